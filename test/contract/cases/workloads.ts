import assert from 'node:assert/strict';
import { type Kind, pathOf } from '../../../src/kube/resources.ts';
import { aWorkload, container, podSpec, template } from '../builders.ts';
import { type Facts, named, rawWord, refusal, said, word } from '../ground.ts';

type Spec = Record<string, unknown>;
interface Workload {
  metadata: {
    name: string;
    labels?: Record<string, string>;
    generation?: number;
    uid: string;
    resourceVersion: string;
    creationTimestamp: string;
  };
  spec: Spec & { template: { spec: Spec & { containers: Spec[] }; metadata: { labels?: object } } };
  status: Spec;
}

/** A Deployment that is refused, and the words. */
const refuses = (what: string, spec: object, words: RegExp): Facts => ({
  [`a Deployment ${what} is 422 Invalid`]: async ({ api, ns }) => {
    const error = await refusal(
      api.create({ kind: 'Deployment', namespace: ns }, aWorkload('Deployment', 'web', spec)),
    );
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, words);
  },
});

const create = (api: Parameters<Facts[string]>[0]['api'], kind: Kind, ns: string, body: object): Promise<Workload> =>
  api.create({ kind, namespace: ns }, body) as unknown as Promise<Workload>;

export const workloads: Facts = {
  'a Deployment has defaults': async ({ api, ns }) => {
    const { replicas: _none, ...bare } = (aWorkload('Deployment', named()) as { spec: Spec }).spec;
    const { spec } = await create(api, 'Deployment', ns, {
      metadata: { name: named() },
      spec: { ...bare, paused: true },
    });
    const { replicas, strategy, revisionHistoryLimit, progressDeadlineSeconds } = spec;
    assert.deepEqual(
      { replicas, strategy, revisionHistoryLimit, progressDeadlineSeconds },
      {
        replicas: 1,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
    );
  },
  'half a rollingUpdate is filled in, and Recreate has none': async ({ api, ns }) => {
    const strategyOf = async (strategy: object) =>
      (await create(api, 'Deployment', ns, aWorkload('Deployment', named(), { strategy }))).spec['strategy'];
    const half = await strategyOf({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } });
    assert.deepEqual(half, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 2 } });
    assert.deepEqual(await strategyOf({ type: 'Recreate' }), { type: 'Recreate' });
  },
  'the template of a Deployment has defaults, so that templates can be compared': async ({ api, ns }) => {
    const name = named();
    const containers = [container({ ports: [{ containerPort: 80 }], readinessProbe: { httpGet: { port: 80 } } })];
    const body = aWorkload('Deployment', name, { template: template(name, { containers }) });
    const { spec } = (await create(api, 'Deployment', ns, body)).spec.template;
    assert.deepEqual(spec, {
      containers: [
        {
          name: 'app',
          image: 'localhost/app:1.0',
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: {},
          readinessProbe: {
            httpGet: { path: '/', port: 80, scheme: 'HTTP' },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'nobody',
    });
  },
  'an image without a tag, or with latest, is always pulled': async ({ api, ns }) => {
    const policyOf = async (image: string) => {
      const name = named();
      const body = aWorkload('Deployment', name, { template: template(name, { containers: [container({ image })] }) });
      return (await create(api, 'Deployment', ns, body)).spec.template.spec.containers[0]!['imagePullPolicy'];
    };
    const digest = `localhost:5000/app@sha256:${'0'.repeat(64)}`;
    const policies = await Promise.all(['localhost:5000/app', 'app:latest', 'app:1', digest].map(policyOf));
    assert.deepEqual(policies, ['Always', 'Always', 'IfNotPresent', 'IfNotPresent']);
  },
  'quantities are written in one way': async ({ api, ns }) => {
    const name = named();
    const resources = { requests: { cpu: '0.5', memory: '1.5Gi' }, limits: { cpu: 1, memory: '2048Mi' } };
    const body = aWorkload('Deployment', name, {
      template: template(name, { containers: [container({ resources })] }),
    });
    const made = (await create(api, 'Deployment', ns, body)).spec.template.spec.containers[0]!['resources'];
    assert.deepEqual(made, { requests: { cpu: '500m', memory: '1536Mi' }, limits: { cpu: '1', memory: '2Gi' } });
  },
  ...refuses('without a selector', { selector: undefined }, /spec\.selector: Required value/),
  ...refuses(
    'whose selector does not match its template',
    { template: template('other') },
    /spec\.template\.metadata\.labels: Invalid value: \{"app":"other"\}: `selector` does not match template `labels`/,
  ),
  ...refuses(
    'without containers',
    { template: template('web', { containers: [] }) },
    /spec\.template\.spec\.containers: Required value/,
  ),
  ...refuses(
    'with a container without an image',
    { template: template('web', { containers: [{ name: 'app' }] }) },
    /spec\.template\.spec\.containers\[0\]\.image: Required value/,
  ),
  ...refuses(
    'with two containers of one name',
    { template: template('web', { containers: [container(), container()] }) },
    /spec\.template\.spec\.containers\[1\]\.name: Duplicate value: "app"/,
  ),
  ...refuses(
    'of less than no replicas',
    { replicas: -1 },
    /spec\.replicas: Invalid value: -1: must be greater than or equal to 0/,
  ),
  ...refuses(
    'whose pods do not restart',
    { template: template('web', { restartPolicy: 'Never' }) },
    /spec\.template\.spec\.restartPolicy: Unsupported value: "Never": supported values: "Always"/,
  ),
  'replicas in quotes are 400 BadRequest': async ({ api, ns }) => {
    const body = aWorkload('Deployment', named(), { replicas: '1' });
    assert.equal(await said(api.create({ kind: 'Deployment', namespace: ns }, body)), '400 BadRequest');
  },
  'a patch to replicas in quotes is 422 Invalid': async ({ api, ns }) => {
    const name = named();
    await create(api, 'Deployment', ns, aWorkload('Deployment', name));
    const work = api.patch({ kind: 'Deployment', namespace: ns, name }, 'merge', { spec: { replicas: '1' } });
    assert.equal(await said(work), '422 Invalid');
  },
  'the selector of a Deployment stays as it was created': async ({ api, ns }) => {
    const name = named();
    await create(
      api,
      'Deployment',
      ns,
      aWorkload('Deployment', name, { template: { ...template(name), metadata: { labels: { app: name, b: 'c' } } } }),
    );
    const selector = { matchLabels: { app: name, b: 'c' } };
    const error = await refusal(
      api.patch({ kind: 'Deployment', namespace: ns, name }, 'merge', { spec: { selector } }),
    );
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, /spec\.selector: Invalid value: .*: field is immutable/);
  },
  'most of a StatefulSet stays as it was created; its template and replicas do not': async ({ api, ns }) => {
    const name = named();
    await create(api, 'StatefulSet', ns, aWorkload('StatefulSet', name, { serviceName: 'a' }));
    const ref = { kind: 'StatefulSet' as const, namespace: ns, name };
    const error = await refusal(api.patch(ref, 'merge', { spec: { serviceName: 'b' } }));
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, /spec: Forbidden: updates to statefulset spec for fields other than 'replicas'/);
    await api.patch(ref, 'merge', { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
  },
  'a ReplicaSet, a StatefulSet and a DaemonSet have defaults': async ({ api, ns }) => {
    const bare = (app: string) => ({
      metadata: { name: app },
      spec: { selector: { matchLabels: { app } }, template: template(app, { nodeSelector: { no: 'such-node' } }) },
    });
    const set = await create(api, 'ReplicaSet', ns, bare(named()));
    assert.equal(set.spec['replicas'], 1);
    const stateful = await create(api, 'StatefulSet', ns, bare(named()));
    const { replicas, podManagementPolicy, updateStrategy, revisionHistoryLimit } = stateful.spec;
    assert.deepEqual(
      { replicas, podManagementPolicy, updateStrategy, revisionHistoryLimit },
      {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        revisionHistoryLimit: 10,
      },
    );
    const daemons = await create(api, 'DaemonSet', ns, bare(named()));
    assert.deepEqual(daemons.spec['updateStrategy'], {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
    });
    for (const [kind, { metadata }] of [
      ['ReplicaSet', set],
      ['StatefulSet', stateful],
      ['DaemonSet', daemons],
    ] as const)
      await api.delete({ kind, namespace: ns, name: metadata.name });
  },
  'a Job knows its pods by its uid, and has defaults': async ({ api, ns }) => {
    const body = {
      metadata: { name: named() },
      spec: { suspend: true, template: { spec: podSpec({ restartPolicy: 'Never' }) } },
    };
    const { metadata, spec } = await create(api, 'Job', ns, body);
    const labels = {
      'batch.kubernetes.io/controller-uid': metadata.uid,
      'batch.kubernetes.io/job-name': metadata.name,
      'controller-uid': metadata.uid,
      'job-name': metadata.name,
    };
    assert.deepEqual(spec.template.metadata.labels, labels);
    assert.deepEqual(metadata.labels, labels);
    assert.deepEqual(spec['selector'], { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } });
    const { parallelism, completions, backoffLimit, completionMode } = spec;
    assert.deepEqual(
      { parallelism, completions, backoffLimit, completionMode },
      { parallelism: 1, completions: 1, backoffLimit: 6, completionMode: 'NonIndexed' },
    );
  },
  'a Job has to say how its pods restart: 422 Invalid': async ({ api, ns }) => {
    const job = (spec: object) =>
      api.create(
        { kind: 'Job', namespace: ns },
        { metadata: { name: named() }, spec: { template: { spec: podSpec(spec) } } },
      );
    assert.equal(await said(job({})), '422 Invalid');
    assert.equal(await said(job({ restartPolicy: 'Always' })), '422 Invalid');
  },
  'a CronJob has defaults': async ({ api, ns }) => {
    const jobTemplate = { spec: { template: { spec: podSpec({ restartPolicy: 'Never' }) } } };
    const made = await create(api, 'CronJob', ns, {
      metadata: { name: named() },
      spec: { schedule: '0 0 1 1 *', jobTemplate },
    });
    const { concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit } = made.spec;
    assert.deepEqual(
      { concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit },
      { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
    );
  },
  'a roleRef cannot be changed: 422 Invalid': async ({ api, ns }) => {
    const name = named();
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace: ns }];
    await api.create({ kind: 'RoleBinding', namespace: ns }, { metadata: { name }, roleRef, subjects });
    const error = await refusal(
      api.patch({ kind: 'RoleBinding', namespace: ns, name }, 'merge', { roleRef: { name: 'edit' } }),
    );
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, /cannot change roleRef/);
  },
  'a RoleBinding may be named as nothing else may: tapfix-UID, and even with capitals': async ({ raw, ns }) => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    const path = pathOf('RoleBinding', ns);
    assert.equal(rawWord(await raw('POST', path, { body: { metadata: { name: 'tapfix:Fix' }, roleRef } })), '201');
    assert.equal(rawWord(await raw('POST', path, { body: { metadata: { name: 'a%b' }, roleRef } })), '422 Invalid');
  },
};
