import { spawnSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bashScript, zshScript } from '../../src/cli/completion/bash.js';
import { fishScript } from '../../src/cli/completion/fish.js';
import { completedCommands } from '../../src/cli/completion/tree.js';
import { makeProgram } from '../../src/cli/program.js';
import { temporaryDirectory } from '../helpers/processes.js';

/** Command lines up to the cursor, with the words that complete the last one. */
const LINES: [string[], string[]][] = [
  [['data'], ['databases']],
  [
    ['databases', ''],
    ['change', 'create', 'drop', 'list', 'show'],
  ],
  [
    ['query', ''],
    ['facts', 'places'],
  ],
  [['query', '--data', 'other', 'e'], ['elsewhere']],
  [
    ['search', 'list', '--data', 'other', '--database', ''],
    ['elsewhere', 'facts'],
  ],
  [['databases', 'drop', 'f'], ['facts']],
  [
    ['query', 'facts', '--so'],
    ['--sort', '--sort-time'],
  ],
  [['query', 'facts', '--where', 'a', '--sort-time', 'cr'], ['created_at']],
  [['import', '--format', 'p'], ['parquet']],
  [['key', 'create', '--na'], ['--name']],
  [
    ['help', 'se'],
    ['search', 'serve'],
  ],
  [['he'], ['help']],
  [
    ['key', 'create', '--actions', 'records'],
    ['records.read', 'records.write'],
  ],
  [
    ['completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
];

/** Directories that are no databases, with names that a shell could run or spread. */
const PLANTED = [
  '$(touch run)',
  '`touch run`',
  'f;touch run',
  'f$(touch run)',
  'f*',
  "f'x",
  'F',
  'f'.repeat(65),
];

/** Prints the words that the function for bash gives for each line. */
function callsOfBash(setUp: string): string {
  const call = `try() {
    ${setUp}
    local COMP_WORDS COMP_CWORD COMPREPLY
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _cosift
    echo "\${COMPREPLY[*]}"
  }`;
  return [call, ...LINES.map(([line]) => `try cosift ${line.map((word) => `'${word}'`).join(' ')}`)].join(
    '\n',
  );
}

const commands = completedCommands(makeProgram());
const SHELLS = {
  bash: { start: '--norc', script: bashScript(commands) + callsOfBash('') },
  // zsh calls a function of bash with these options.
  zsh: {
    start: '-f',
    script: zshScript(commands) + callsOfBash('emulate -L sh; setopt kshglob noshglob braceexpand'),
  },
  fish: {
    start: '--no-config',
    script: [
      fishScript(commands),
      ...LINES.map(([line]) => `echo (complete -C 'cosift ${line.join(' ')}' | cut -f 1)`),
    ].join('\n'),
  },
};

test.for(['bash', 'zsh', 'fish'] as const)('%s', async (shell, { skip }) => {
  if (spawnSync(shell, ['-c', 'true']).error) skip(`${shell} is not installed`);
  const { start, script } = SHELLS[shell];
  const directory = await temporaryDirectory();
  const databases = ['facts', 'places', '.new-x', ...PLANTED];
  for (const database of databases) {
    await mkdir(join(directory, 'data/databases', database), { recursive: true });
  }
  for (const database of ['facts', 'elsewhere']) {
    await mkdir(join(directory, 'other/databases', database), { recursive: true });
  }
  const { COSIFT_DATA: _, ...inherited } = process.env;
  // Shells keep files in the home directory.
  const env = { ...inherited, HOME: directory };
  const { stdout, stderr } = spawnSync(shell, [start, '-c', script], {
    cwd: directory,
    env,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const words = stdout.split('\n').map((line) => line.split(' '));
  for (const [at, [line, expected]] of LINES.entries()) {
    // zsh itself leaves out the words that do not begin as the last one.
    const fitting = words[at]!.filter((word) => word.startsWith(line.at(-1)!));
    expect(fitting.sort(), line.join(' ')).toEqual(expected);
  }
  expect(await readdir(directory), 'a name of a directory was run').not.toContain('run');
});
