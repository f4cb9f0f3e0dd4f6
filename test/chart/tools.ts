import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory, makeOnce, type Say, withProgress } from '../cluster/build.ts';
import { exec, outcomeOf } from '../cluster/exec.ts';
import { findCommand, goIsMissing } from '../cluster/prerequisites.ts';

/** Programs of Go, from its module proxy. */
const programs = {
  helm3: { package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0', binary: 'helm' },
  helm4: { package: 'helm.sh/helm/v4/cmd/helm', version: 'v4.3.1', binary: 'helm' },
  actionlint: { package: 'github.com/rhysd/actionlint/cmd/actionlint', version: 'v1.7.12', binary: 'actionlint' },
} as const;
type ProgramName = keyof typeof programs;
const names = Object.keys(programs) as ProgramName[];

export type Tools = Readonly<Record<ProgramName | 'promtool', string>>;

const pathOf = (name: ProgramName): string =>
  join(cacheDirectory(), `${name}-${programs[name].version}`, programs[name].binary);
const extracted = (): string => join(cacheDirectory(), 'promtool');

/** Where promtool is: on the machine, or out of Debian's package, which starts a server where it is installed. */
const promtool = (): string | undefined =>
  findCommand('promtool') ?? [join(extracted(), 'usr/bin/promtool')].find((path) => existsSync(path));

/** The paths of all programs that the tests of the chart need; what is not there yet is built or fetched once. */
export async function chartTools(say: Say, signal: AbortSignal): Promise<Tools> {
  const isReady = promtool() !== undefined || (await fetchPromtool(signal));
  const built = await builtTools(names, say, signal, isReady ? [] : [promtoolIsMissing]);
  return { ...built, promtool: promtool()! };
}

const promtoolIsMissing = 'promtool is missing (apt-get install -y prometheus)';

/** Both majors of Helm alone: the tests on the real cluster have no way to the internet once they run. */
export const bothHelms = (say: Say, signal: AbortSignal): Promise<Pick<Tools, 'helm3' | 'helm4'>> =>
  builtTools(['helm3', 'helm4'], say, signal, []);

/** What is missing is said in one sentence, before anything is built. */
async function builtTools<Name extends ProgramName>(
  wanted: readonly Name[],
  say: Say,
  signal: AbortSignal,
  complaints: readonly string[],
): Promise<Readonly<Record<Name, string>>> {
  const absent = wanted.filter((name) => !existsSync(pathOf(name)));
  const isGoMissing = absent.length > 0 && findCommand('go') === undefined;
  const missing = [...(isGoMissing ? [goIsMissing] : []), ...complaints];
  if (missing.length > 0) throw new Error(`The tests of the chart cannot start: ${missing.join('; ')}.`);
  for (const name of absent) {
    const what = `building ${name} ${programs[name].version} (once, about 2 minutes)`;
    await withProgress(say, what, () => build(name, signal));
  }
  return Object.fromEntries(wanted.map((name) => [name, pathOf(name)])) as Record<Name, string>;
}

async function build(name: ProgramName, signal: AbortSignal): Promise<void> {
  const { package: path, version } = programs[name];
  await makeOnce(join(pathOf(name), '..'), async (directory) => {
    const env = { ...process.env, CGO_ENABLED: '0', GOBIN: directory };
    await exec('go', ['install', '-trimpath', '-ldflags', '-s -w', `${path}@${version}`], { signal, env });
  });
}

/** False where there is no Debian, or no way to its packages. */
async function fetchPromtool(signal: AbortSignal): Promise<boolean> {
  const needed = ['apt-get', 'dpkg-deb'];
  if (needed.some((command) => findCommand(command) === undefined)) return false;
  const download = ['download', '-qq', 'prometheus'];
  try {
    await makeOnce(extracted(), async (directory) => {
      if ((await outcomeOf('apt-get', download, { cwd: directory, signal })).code !== 0) {
        // A fresh machine has no list of packages yet.
        await exec('apt-get', ['update', '-qq'], { signal });
        await exec('apt-get', download, { cwd: directory, signal });
      }
      await exec(
        'sh',
        ['-c', 'dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool && rm prometheus_*.deb'],
        { cwd: directory, signal },
      );
    });
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const say = (line: string): void => console.log(line);
  await chartTools(say, new AbortController().signal).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
}
