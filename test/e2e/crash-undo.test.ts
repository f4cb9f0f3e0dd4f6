import { applyIn, available, breakByRollout, deployment } from './support/incidents.ts';
import { killedAtEveryWrite } from './support/killing.ts';

killedAtEveryWrite('undo: killed before and after every write of its life, exactly one execution, and no rights left', {
  name: 'undo',
  async prepare(cluster, namespace) {
    await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
    await available(cluster, namespace, 'checkout');
  },
  break: breakByRollout,
  theWrite: { verb: 'patch', resource: 'deployments' },
});
