/** A command as a shell completes it. */
export interface Completable {
  name: string;
  description: string;
  options: readonly string[];
  /** Its first argument is a record's name, or one of these words. */
  takes: 'record' | readonly string[];
}

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Names as `list` prints them, without the resource in front. Nothing is shown while no cluster answers. */
const recordNames = 'tapfix list -A -o name 2>/dev/null | sed "s|.*/||"';

/** Pure. The script for a shell: `tapfix completion bash`. */
export function completionScript(shell: Shell, commands: readonly Completable[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return `#compdef tapfix\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
    case 'fish':
      return fish(commands);
  }
}

function bash(commands: readonly Completable[]): string {
  const cases = commands.map(({ name, options, takes }) => {
    const words = takes === 'record' ? `$(${recordNames})` : `"${takes.join(' ')}"`;
    return `    ${name}) options="${options.join(' ')}"; [ "$dash" ] || words=${words} ;;`;
  });
  return `# Load it with: source <(tapfix completion bash)
_tapfix() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options="" words="" dash=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word"))
    return
  fi
  [ "\${word:0:1}" = "-" ] && dash=1
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "\${dash:+$options}\${words}" -- "$word"))
}
complete -F _tapfix tapfix
`;
}

function fish(commands: readonly Completable[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`\'`)}'`;
  const lines = commands.flatMap(({ name, description, options, takes }) => [
    `complete -c tapfix -f -n "not __fish_seen_subcommand_from ${names}" -a ${name} -d ${quoted(description)}`,
    ...options
      .filter((option) => option.startsWith('--'))
      .map((option) => `complete -c tapfix -n "__fish_seen_subcommand_from ${name}" -l ${option.slice(2)}`),
    ...(takes.length > 0
      ? [
          `complete -c tapfix -f -n "__fish_seen_subcommand_from ${name}" -a ${takes === 'record' ? quoted(`(${recordNames})`) : quoted(takes.join(' '))}`,
        ]
      : []),
  ]);
  return `# Load it with: tapfix completion fish | source\n${lines.join('\n')}\n`;
}
