import { breakByQuota } from './support/incidents.ts';
import { killedAtEveryWrite } from './support/killing.ts';

killedAtEveryWrite(
  'quota: killed before and after every write of its life, exactly one execution, and no rights left',
  {
    name: 'quota',
    break: (cluster, namespace) => breakByQuota(cluster, namespace, ['api']),
    stableFor: '2s',
    theWrite: { verb: 'delete', resource: 'resourcequotas' },
  },
);
