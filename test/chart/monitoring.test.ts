import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { alerts } from '../../scripts/chart/alerts.ts';
import { panels } from '../../scripts/chart/dashboard.ts';
import { exec, outcomeOf } from '../cluster/exec.ts';
import { root, tools } from './render.ts';

const monitoring = join(root, 'deploy/monitoring');

describe('what Prometheus makes of deploy/monitoring', () => {
  test('every rule is one', async () => {
    const said = await exec(tools.promtool, ['check', 'rules', join(monitoring, 'rules.yaml')]);
    assert.match(said, new RegExp(`SUCCESS: ${alerts.length} rules found`));
  });

  test('every alert fires when it should, and stays quiet when it should', async () => {
    const { code, stdout, stderr } = await outcomeOf(tools.promtool, [
      'test',
      'rules',
      join(monitoring, 'rules.test.yaml'),
    ]);
    assert.equal(code, 0, stdout + stderr);
  });

  test('these tests can fail: an alert that never fires, and one that always does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tapfix-rules-'));
    for (const expr of ['vector(0) == 1', 'vector(1)']) {
      const rules = alerts.map(({ name }) => ({ alert: name, expr }));
      await writeFile(join(folder, 'rules.yaml'), stringify({ groups: [{ name: 'tapfix', rules }] }));
      const text = await readFile(join(monitoring, 'rules.test.yaml'), 'utf8');
      await writeFile(join(folder, 'rules.test.yaml'), text);
      const { stdout, stderr } = await outcomeOf(tools.promtool, ['test', 'rules', join(folder, 'rules.test.yaml')]);
      const failed = new Set([...(stdout + stderr).matchAll(/alertname: (\w+)/g)].map(([, name]) => name));
      assert.deepEqual([...failed].sort(), alerts.map(({ name }) => name).sort(), expr);
    }
    await rm(folder, { recursive: true });
  });

  test('every expression of the dashboard is one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tapfix-dashboard-'));
    const queries = panels.flat().flatMap((panel) => panel.queries);
    const rules = queries.map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
    await writeFile(join(folder, 'rules.yaml'), stringify({ groups: [{ name: 'dashboard', rules }] }));
    const said = await exec(tools.promtool, ['check', 'rules', join(folder, 'rules.yaml')]);
    assert.match(said, new RegExp(`SUCCESS: ${queries.length} rules found`));
    await rm(folder, { recursive: true });
  });
});
