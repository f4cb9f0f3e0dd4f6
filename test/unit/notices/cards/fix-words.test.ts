import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionNames } from '../../../../src/config/schema.ts';
import { fixLines, fixWords } from '../../../../src/notices/cards/fix-words.ts';
import { timesIn } from '../../../../src/notices/cards/times.ts';
import { aFix } from '../../../support/fixes.ts';

const times = timesIn('UTC', 0);
const actions: [object, button: string, line: string, doing: string, done: string][] = [
  [{ type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'tight', uid: 'u' } }, 'Delete quota', 'Fix: delete it', 'being deleted', 'deleted'],
  [{ type: 'PatchDeploymentImage', patchDeploymentImage: { name: 'web', uid: 'u', container: 'app', image: 'r:5000/shop/web:1.41' } }, 'Use image web:1.41', 'Fix: use image web:1.41', 'changing its image to web:1.41', 'image changed to web:1.41'],
  [{ type: 'ScaleDeployment', scaleDeployment: { name: 'web', uid: 'u', replicas: 2 } }, 'Scale to 2', 'Fix: scale to 2', 'scaling to 2', 'scaled to 2'],
  [{ type: 'RolloutRestart', rolloutRestart: { kind: 'Deployment', name: 'web', uid: 'u' } }, 'Restart pods', 'Fix: restart its pods', 'restarting its pods', 'pods restarted'],
  [{ type: 'DeletePod', deletePod: { name: 'web-2-0', uid: 'u' } }, 'Delete pod', 'Fix: delete pod web-2-0, a new one follows', 'deleting pod web-2-0', 'pod web-2-0 deleted'],
  [{ type: 'RolloutUndo', rolloutUndo: { kind: 'Deployment', name: 'web', uid: 'u', toRevision: 41 } }, 'Roll back to 1.41', 'Fix: roll back to 1.41, healthy 6 days', 'rolling back to 1.41', 'rolled back'],
]; // prettier-ignore

for (const [action, button, line, doing, done] of actions)
  test(`the words for ${button}`, () => {
    const fix = aFix({ spec: { action: action as never } });
    const words = fixWords(fix);
    assert.deepEqual([words.button, fixLines(fix, times)[0], words.doing, words.done], [button, line, doing, done]);
    assert.ok(button.startsWith(words.short) || button === words.short);
  });

test('every action has words of its own', () =>
  assert.deepEqual(actions.map(([action]) => (action as { type: string }).type).sort(), [...actionNames].sort()));

test('an action of a newer version is named, and can do no harm', () =>
  assert.deepEqual(fixLines(aFix({ spec: { action: { type: 'RebootNode', rebootNode: {} } } }), times), [
    'Fix: RebootNode (unknown to this version)',
  ]));
