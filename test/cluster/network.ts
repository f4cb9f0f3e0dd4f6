import { writeFile } from 'node:fs/promises';
import { apiPort, apiServiceAddress, nodeAddress, serviceRange } from './facts.ts';
import { exec } from './exec.ts';

/** Sets up the empty network namespace this process is in. */
export async function setUpNetwork(): Promise<void> {
  await ip('link set lo up');
  // A bridge without ports holds an address just as well as a dummy device, which not every kernel has.
  await ip('link add node0 type bridge');
  await ip(`address add ${nodeAddress}/24 dev node0`);
  await ip('link set node0 up');
  // Without a route a connection to a service address fails before any rule sees it.
  await ip(`route add ${serviceRange} dev node0`);
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
  // All of kube-proxy that in-cluster clients of the API server need.
  for (const chain of ['OUTPUT', 'PREROUTING']) {
    const rule = `${chain} --destination ${apiServiceAddress} --protocol tcp --dport 443`;
    const target = `--jump DNAT --to-destination ${nodeAddress}:${apiPort}`;
    await exec('iptables', `--wait --table nat --append ${rule} ${target}`.split(' '));
  }
}

async function ip(line: string): Promise<void> {
  await exec('ip', line.split(' '));
}
