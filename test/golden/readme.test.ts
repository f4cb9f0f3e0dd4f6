import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { roles } from '../../src/cli/cli.ts';
import { imageRepository } from '../../src/manifests/manifest.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const readme = read('README.md');
const sectionOf = (title: string): string => readme.split(/^## /m).find((part) => part.startsWith(title)) ?? '';

test('the first screen of README has a picture of a message, light and dark, and the command that shows it working', () => {
  const firstScreen = readme.slice(0, readme.indexOf('To pass the tests'));
  const pictures = [...firstScreen.matchAll(/(?:srcset|src)="(docs\/pictures\/[^"]+)"/g)].map(([, file]) => file!);
  assert.deepEqual(pictures, ['docs/pictures/telegram-life-dark.png', 'docs/pictures/telegram-life-light.png']);
  assert.match(firstScreen, /```sh\nnpm ci && npm run demo\n```/);
});

test('every file that README links to is there', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
  assert(links.length > 5);
  assert.deepEqual(links.filter((link) => !existsSync(new URL(link, root))), []);
});

test('every file that README applies is there', () => {
  const named = [...readme.matchAll(/-f (deploy\/manifests[\w/-]*(?:\.yaml)?)/g)].map(([, file]) => file!);
  assert(named.length > 4);
  for (const file of named) assert(existsSync(new URL(file, root)), file);
});

test('what a laptop applies runs nothing in the cluster, and brings all it works with', () => {
  const named = [...sectionOf('Run it on a laptop').matchAll(/deploy\/manifests\/\S+\.yaml/g)].map(([file]) => file);
  const text = named.map(read).join('');
  assert.doesNotMatch(text, /^kind: Deployment$|^  name: tapfix-config$/m);
  assert.match(text, /^  name: tapfix-mutes$/m);
  for (const kind of ['Namespace', 'ValidatingAdmissionPolicy', 'CustomResourceDefinition', 'ServiceAccount'])
    assert.match(text, new RegExp(`^kind: ${kind}$`, 'm'));
});

test('README speaks of commands, roles and people that there are', () => {
  const scripts: Record<string, string> = packageJson.scripts;
  assert.equal(scripts['start'], 'node bin/tapfix.js run');
  for (const [, name] of readme.matchAll(/npm run ([\w:]+)/g)) assert(scripts[name!], `npm run ${name}`);
  assert.match(read('deploy/manifests/30-rbac.yaml'), /^ {2}name: tapfix-approver$/m);
  for (const role of roles.filter((name) => name !== 'all')) assert(readme.includes(`tapfix-${role}`));
});

test('the command in the Dockerfile tags what the manifests run', () => {
  assert(read('deploy/Dockerfile').includes(`-t "${imageRepository}:$(npm run --silent tapfix -- --version)"`));
  assert(read('deploy/manifests/50-deployments.yaml').includes(`image: ${imageRepository}:${packageJson.version}\n`));
});
