/** What a Dockerfile of the few instructions that `image.ts` can follow says. */
export interface Dockerfile {
  readonly from: string;
  readonly copies: readonly { readonly sources: readonly string[]; readonly target: string }[];
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly user: string | undefined;
  readonly entrypoint: readonly string[];
}

interface Draft {
  from?: string;
  copies: { sources: string[]; target: string }[];
  workdir: string;
  env: Record<string, string>;
  labels: Record<string, string>;
  ports: string[];
  user?: string;
  entrypoint?: string[];
}

type Instruction = (draft: Draft, rest: string) => void;

const instructions: Record<string, Instruction> = {
  FROM(draft, rest) {
    if (draft.from !== undefined) throw new Error('only one FROM is understood: no build stages');
    draft.from = rest;
  },
  COPY(draft, rest) {
    const words = rest.split(/\s+/);
    const target = words.pop();
    if (target === undefined || words.length === 0) throw new Error('COPY needs a source and a target');
    if (words.some((word) => /^--|[*?[]/.test(word))) throw new Error(`COPY with options or wildcards: ${rest}`);
    draft.copies.push({ sources: words, target: absolute(draft.workdir, target) });
  },
  WORKDIR(draft, rest) {
    draft.workdir = absolute(draft.workdir, rest);
  },
  ENV(draft, rest) {
    Object.assign(draft.env, pairs(rest));
  },
  LABEL(draft, rest) {
    Object.assign(draft.labels, pairs(rest));
  },
  EXPOSE(draft, rest) {
    draft.ports.push(...rest.split(/\s+/).map((port) => (port.includes('/') ? port : `${port}/tcp`)));
  },
  USER(draft, rest) {
    // A kubelet cannot tell whether a named user is root, so runAsNonRoot would refuse the image.
    if (!/^\d+(:\d+)?$/.test(rest)) throw new Error(`USER must be a number, not ${rest}`);
    draft.user = rest;
  },
  ENTRYPOINT(draft, rest) {
    const words: unknown = rest.startsWith('[') ? JSON.parse(rest) : undefined;
    if (!Array.isArray(words)) throw new Error('ENTRYPOINT must be a JSON array: there is no shell in the image');
    draft.entrypoint = words.map(String);
  },
};

/** Reads a Dockerfile; an instruction that cannot be followed exactly is refused, with its line. */
export function parseDockerfile(text: string): Dockerfile {
  const draft: Draft = { copies: [], workdir: '/', env: {}, labels: {}, ports: [] };
  for (const line of logicalLines(text)) {
    const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
    const follow = instructions[name.toUpperCase()];
    if (follow === undefined) {
      throw new Error(`Dockerfile: ${name} is not understood here, only ${Object.keys(instructions).join(', ')}`);
    }
    try {
      follow(draft, rest.trim());
    } catch (error) {
      throw new Error(`Dockerfile: "${line}": ${(error as Error).message}`, { cause: error });
    }
  }
  const { from, entrypoint, user } = draft;
  if (from === undefined || entrypoint === undefined) throw new Error('Dockerfile: FROM and ENTRYPOINT are needed');
  return { ...draft, from, entrypoint, user };
}

/** Lines without comments, those that end in a backslash joined with the next. */
function logicalLines(text: string): string[] {
  const withoutComments = text.split('\n').filter((line) => !/^\s*#/.test(line));
  return withoutComments
    .join('\n')
    .replaceAll(/\\[ \t]*\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function absolute(workdir: string, path: string): string {
  if (path.startsWith('/')) return path;
  return `${workdir.replace(/\/$/, '')}/${path}`;
}

/** `a=1 b="two words"` as an object. */
function pairs(text: string): Record<string, string> {
  const found = [...text.matchAll(/([^\s=]+)=("(?:[^"\\]|\\.)*"|\S*)/g)];
  if (found.length === 0) throw new Error('write it as NAME=value');
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, unquoted(value)]));
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
}
