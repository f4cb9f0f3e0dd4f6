import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../src/config/schema.ts';
import { judgeSignal } from '../../../src/incidents/intake.ts';
import type { Root } from '../../../src/kube/owners.ts';
import type { Signal } from '../../../src/signals/signal.ts';
import { aConfig } from '../../support/config.ts';

const pod = { kind: 'Pod', name: 'api-5d8f-x', uid: 'p' };
const api: Root = { kind: 'Deployment', name: 'api', uid: 'd' };
const seen = (over: Partial<Signal> = {}): Signal => ({
  class: 'CrashLoop',
  namespace: 'shop',
  object: pod,
  reason: 'BackOff',
  message: '',
  ...over,
});
const quota = { kind: 'ResourceQuota', name: 'tight' };
const node = { kind: 'Node', name: 'n1' };

const cases: [string, Signal, Root | undefined, Partial<Config>, string][] = [
  ['a pod’s trouble is its workload’s', seen(), api, {}, 'shop/Deployment/api in shop'],
  ['of a shared cause, that one’s', seen({ cause: quota }), api, {}, 'shop/ResourceQuota/tight in shop'],
  ['of a node, in our own namespace', seen({ cause: node }), api, {}, 'tapfix/Node/n1 in tapfix'],
  [
    'of a node itself, whatever its event was stored in',
    seen({ namespace: 'default', object: { ...node, uid: 'n' } }),
    { ...node, uid: 'n' },
    {},
    'tapfix/Node/n1 in tapfix',
  ],
  ['nobody’s', seen(), undefined, {}, 'OwnerUnknown'],
  ['a shared cause needs no owner', seen({ cause: quota }), undefined, {}, 'shop/ResourceQuota/tight in shop'],
  ['the workload is ignored', seen(), api, { ignore: [{ kind: 'Deployment' }] }, 'IgnoredByRule'],
  ['so it is behind a shared cause', seen({ cause: quota }), api, { ignore: [{ name: 'api' }] }, 'IgnoredByRule'],
  ['the cause is ignored', seen({ cause: quota }), api, { ignore: [{ kind: 'ResourceQuota' }] }, 'IgnoredByRule'],
  ['the class is switched off', seen(), api, { classes: { CrashLoop: { enabled: false } } }, 'ClassDisabled'],
  ['another namespace', seen({ namespace: 'kube-system' }), api, {}, 'NamespaceNotSelected'],
];
for (const [name, signal, root, config, want] of cases)
  test(name, () => {
    const judged = judgeSignal(aConfig(config), signal, root, 'tapfix');
    assert.equal('place' in judged ? `${judged.place.key} in ${judged.place.namespace}` : judged.outcome, want);
  });
