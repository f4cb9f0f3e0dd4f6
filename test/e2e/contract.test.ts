import { readFile } from 'node:fs/promises';
import { actions } from '../../src/actions/table.ts';
import { createApi } from '../../src/kube/client.ts';
import { loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { rawOver } from '../contract/connect.ts';
import { pause, type Server } from '../contract/ground.ts';
import { contractSuite } from '../contract/suite.ts';

interface Kubeconfig {
  users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

/** etcd's own HTTP; the API server does the same every five minutes. https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
async function compact(): Promise<void> {
  const ask = async (path: string, body: object): Promise<{ header: { revision: string } }> =>
    (await (
      await fetch(`http://127.0.0.1:2379/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) })
    ).json()) as { header: { revision: string } };
  const { header } = await ask('range', { key: Buffer.from('/').toString('base64') });
  await ask('compaction', { revision: header.revision, physical: true });
}

async function connect(): Promise<Server> {
  const cluster: Cluster = await joinCluster();
  const definitions = customResourceDefinitions(actions);
  for (const definition of definitions) await cluster.apply(JSON.stringify(definition));
  for (const { metadata } of definitions)
    await cluster.kubectl(['wait', 'crd', metadata.name, '--for=condition=Established', '--timeout=30s']);
  const api = createApi({ kubeConfig: loadKubeConfig({ env: { KUBECONFIG: cluster.kubeconfig, HOME: cluster.dir } }) });
  const { user } = (JSON.parse(await readFile(cluster.kubeconfig, 'utf8')) as Kubeconfig).users[0];
  const ca = await readFile(cluster.caFile);
  const cert = Buffer.from(user['client-certificate-data'], 'base64');
  const key = Buffer.from(user['client-key-data'], 'base64');
  const wire = rawOver({ url: cluster.server, own: { connect: { ca, cert, key } }, bare: { connect: { ca } } });
  const spaces: string[] = [];
  return {
    api,
    raw: wire.raw,
    async freshNamespace() {
      const name = await cluster.freshNamespace('contract');
      spaces.push(name);
      return name;
    },
    pass: pause,
    async forget() {
      await compact();
      // What it knows beyond etcd is its watch cache: a new one knows nothing before its own start.
      await cluster.restart('kube-apiserver');
    },
    async close() {
      if (spaces.length > 0)
        await cluster.kubectl(['delete', 'namespace', ...spaces, '--ignore-not-found', '--wait=false']);
      await Promise.all([api.close(), wire.close()]);
    },
  };
}

contractSuite('the real API server', connect);
