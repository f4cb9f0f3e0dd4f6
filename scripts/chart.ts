import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { stringify } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { prometheusRule, rulesFile, ruleTestsFile } from './chart/alerts.ts';
import { dashboardFile } from './chart/dashboard.ts';
import { chartReadme } from './chart/readme.ts';
import { generatedTemplates } from './chart/templates.ts';
import { schemaFile, valuesFile } from './chart/values.ts';

const root = join(import.meta.dirname, '..');
const chart = 'deploy/helm/tapfix';

const chartFile = (): string =>
  stringify(
    {
      apiVersion: 'v2',
      name: 'tapfix',
      description: packageJson.description,
      type: 'application',
      version: packageJson.version,
      appVersion: packageJson.version,
      kubeVersion: '>=1.30.0-0',
      keywords: ['on-call', 'alerting', 'remediation', 'telegram', 'slack'],
    },
    { lineWidth: 0 },
  );

/** Every file of the chart and of deploy/monitoring that is made from tables in the code, by its path. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const path = join(root, 'README.md');
  const readme = await format(chartReadme(packageJson.version), { ...(await resolveConfig(path)), filepath: path });
  return new Map([
    [`${chart}/Chart.yaml`, chartFile()],
    [`${chart}/values.yaml`, valuesFile()],
    [`${chart}/values.schema.json`, schemaFile()],
    [`${chart}/README.md`, readme],
    ...[...generatedTemplates()].map(([name, text]): [string, string] => [`${chart}/templates/${name}`, text]),
    [`${chart}/files/rules.yaml`, rulesFile()],
    [`${chart}/files/dashboard.json`, dashboardFile()],
    ['deploy/monitoring/rules.yaml', rulesFile()],
    ['deploy/monitoring/rules.test.yaml', ruleTestsFile()],
    ['deploy/monitoring/prometheus-rule.yaml', prometheusRule()],
    ['deploy/monitoring/dashboard.json', dashboardFile()],
  ]);
}

if (import.meta.main) {
  for (const [path, text] of await generatedFiles()) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    console.log(`wrote ${path}`);
  }
}
