import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { serveCounts } from './counts.ts';

/** The same input through client-node's informer: decoded and cached, and nothing decided. */
const kubeConfig = new KubeConfig();
kubeConfig.loadFromOptions({
  clusters: [{ name: 'bench', server: `http://127.0.0.1:${process.argv[2]}`, skipTLSVerify: true }],
  users: [{ name: 'bench' }],
  contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
  currentContext: 'bench',
});
const core = kubeConfig.makeApiClient(CoreV1Api);
const counts = serveCounts();
const informer = makeInformer(kubeConfig, '/api/v1/events', () => core.listEventForAllNamespaces());
informer.on('add', () => counts.add(1));
informer.on('update', () => counts.add(1));
await informer.start();
