import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { actions } from '../../src/actions/table.ts';
import { createApi } from '../../src/kube/client.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import { listen } from '../../src/sim/api/http.ts';
import { createFullApiServer } from '../sim/full-sim.ts';
import { rawOver } from './connect.ts';
import { pause, type Server } from './ground.ts';
import { contractSuite } from './suite.ts';
import { warpClock } from './warp-clock.ts';

async function connect(): Promise<Server> {
  const clock = warpClock();
  const server = createFullApiServer({ clock, definitions: customResourceDefinitions(actions) });
  const { url, close } = await listen(server);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromOptions({
    clusters: [{ name: 'sim', server: url, skipTLSVerify: true }],
    users: [{ name: 'sim' }],
    contexts: [{ name: 'sim', cluster: 'sim', user: 'sim' }],
    currentContext: 'sim',
  });
  const api = createApi({ kubeConfig });
  const wire = rawOver({ url });
  let spaces = 0;
  return {
    api,
    raw: wire.raw,
    async freshNamespace() {
      const name = `contract-${++spaces}`;
      await api.create({ kind: 'Namespace' }, { metadata: { name } });
      return name;
    },
    async pass(ms) {
      await pause(200); // sockets are real even where time is not: what is on its way arrives
      clock.pass(ms);
      await pause(200);
    },
    forget: async () => server.compact(),
    async close() {
      await Promise.all([api.close(), wire.close()]);
      await close();
    },
  };
}

contractSuite('the simulated API server', connect);
