import type { CompletedCommand, Values } from './tree.js';

export function fishScript(commands: readonly CompletedCommand[]): string {
  const names = commands.flatMap(({ path }) => (path.length === 0 ? [] : [quoted(path.join(' '))]));
  return `# Completes command lines of cosift. Made by \`cosift completion fish\`.
function __cosift_at
    set -l command
    for word in (commandline -opc)[2..]
        if contains -- (string join ' ' -- $command $word) ${names.join(' ')}
            set command $command $word
        end
    end
    test "$command" = "$argv"
end

function __cosift_databases
    set -l data ./data
    set -q COSIFT_DATA; and set data $COSIFT_DATA
    set -l words (commandline -opc)
    set -l at (contains -i -- --data $words); and set data $words[(math $at + 1)]
    for directory in $data/databases/*/
        # Only ids of databases.
        string replace -fr '^.*/([a-z0-9_-]{1,64})/$' '$1' -- $directory
    end
end

complete -c cosift -f
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, subcommands, options, arguments: all }: CompletedCommand): string[] {
  const start = `complete -c cosift -n ${quoted(`__cosift_at ${path.join(' ')}`.trim())}`;
  return [
    ...subcommands.map(({ name, description }) => `${start} -a ${name} -d ${quoted(description)}`),
    ...options.map(({ name, description, values }) => {
      const flag = name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
      const value = values === undefined ? '' : ` -r${valuesOf(values)}`;
      return `${start} ${flag}${value} -d ${quoted(description)}`;
    }),
    ...all.filter((values) => values !== 'any').map((values) => `${start}${valuesOf(values)}`),
  ];
}

function valuesOf(values: Values): string {
  if (values === 'file') return ' -F';
  if (values === 'any') return ' -f';
  return ` -f -a ${quoted(values === 'database' ? '(__cosift_databases)' : values.join(' '))}`;
}

/** A text in single quotes, in which fish takes only these two escapes. */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
