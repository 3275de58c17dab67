import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeCommands } from './installation.js';
import { Scene } from './scene.js';
import { pageOf } from './steps.js';
import { typeErrorsOf } from './typescript.js';

const directory = mkdtempSync(join(tmpdir(), 'cosift-broken-samples-'));
const commands = join(directory, 'commands');
writeCommands(commands);
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let pages = 0;

/** Runs a page of the given lines, below a title and an empty line. */
async function run(lines: readonly string[]): Promise<void> {
  const page = pageOf('page.md', ['# Page', '', ...lines].join('\n'));
  pages += 1;
  await new Scene(page, join(directory, `${pages}`), commands).run();
}

const IMPORT = "import { writeFileSync } from 'node:fs';";
const BROKEN: [string, string[], string][] = [
  ['a command that fails', ['```sh', 'true', 'false', '```'], 'page.md:3: ended with 1'],
  ['a command that fails in a pipe', ['```sh', 'false | cat', '```'], 'page.md:3: ended with 1'],
  ['a missing variable', ['```sh', 'echo $MISSING', '```'], 'MISSING: unbound variable'],
  [
    'a command that must fail',
    ['```sh fails', 'true', '```', '```text output', 'a', '```'],
    'page.md:3: did not fail',
  ],
  ['a failure without its output', ['```sh fails', 'fasle', '```'], 'page.md:3: a block that fails needs'],
  [
    'a section that nothing writes',
    ['<!-- own: made by npm run generate:docs -->', '```sh', 'false', '```', '<!-- end of own -->'],
    'page.md:3: nothing writes the section "own"',
  ],
  ['a block in a quotation', ['> ```sh', '> false', '> ```'], 'page.md:3: a block must begin with its fence'],
  ['a block after the mark of a list', ['- ```sh', '  false', '  ```'], 'page.md:3: a block must begin with'],
  ['an indented block', ['Run:', '', '    false'], 'page.md:5: an indented block is not run'],
  ['a block in HTML', ['<pre>false</pre>'], 'page.md:3: a block must have a fence'],
  [
    'a command after a server',
    ['```sh', 'cosift serve --data d', 'false', '```'],
    'page.md:3: the server must be the last command',
  ],
  [
    'a command after a program that is a server',
    ['```sh server', 'node shop.mjs', 'false', '```'],
    'page.md:3: the server must be the last command',
  ],
  [
    'a program that does not listen',
    ['```sh server', 'node --print 1', '```'],
    'page.md:3: ended before it was ready',
  ],
  [
    'an output of no text',
    ['```sh', 'echo a', '```', '```text output', '…', '```'],
    'page.md:6: shows nothing',
  ],
  [
    'another score next to any text',
    ['```sh', 'echo 0.53 a 7.1', '```', '```text output', '0.56 …', '```'],
    'page.md:6: the page shows',
  ],
  ['a command that installs', ['```sh', 'pip3 install numpy', '```'], 'pip3: command not found'],
  ['another package', ['```sh', 'pip install numpy', '```'], 'pip install numpy is not run for samples'],
  ['an unknown option', ['```sh', 'cosift serve --prot 1', '```'], "unknown option '--prot'"],
  [
    'an unknown option that is not run',
    ['```sh not-run="x"', 'cosift serve --prot 1', '```'],
    'page.md:3: is',
  ],
  ['an unknown script', ['```sh not-run="x"', 'npm run what', '```'], 'no script what'],
  ['a syntax error', ['```sh not-run="x"', 'if true', '```'], 'page.md:3: is not well formed'],
  [
    'a server without a directory',
    ['```sh', 'cosift serve --data /dev/null', '```'],
    'page.md:3: ended before',
  ],
  ['an exception', ['```js', IMPORT, '```', '', '```js', 'null.x;', '```'], 'page.md:8: ended with 1'],
  [
    'a comment with another output',
    ['```js', IMPORT, "console.log('a', 0.5); // a 0.6…", '```'],
    'page.md:3: the page shows',
  ],
  ['a program without an import', ['```js', 'x();', '```'], 'page.md:3: continues no program'],
  ['a program that nothing runs', ['```js file=a.mjs', '```'], 'page.md:3: no block runs a.mjs'],
  ['another output', ['```sh', 'echo a', '```', '```text output', 'b', '```'], 'page.md:6: the page shows'],
  [
    'an output too much',
    ['```sh', 'echo a', '```', '```text output', 'a', 'b', '```'],
    'page.md:6: the page',
  ],
  ['an output of nothing', ['```text output', 'b', '```'], 'page.md:3: shows an output, but no block'],
  ['another number', ['```sh', "echo '[1]'", '```', '```json output', '[2]', '```'], 'page.md:6: /0 is 2 on'],
  [
    'another score',
    ['```sh', 'echo 0.53', '```', '```json output', '0.56', '```'],
    'page.md:6: / is 0.56 on',
  ],
  ['a member too few', ['```sh', 'echo \'{"a":1}\'', '```', '```json output', '{}', '```'], '/ also has a'],
  ['JSON that is none', ['```json', '{ a: 1 }', '```'], 'page.md:3: is not well formed'],
  ['YAML that is none', ['```yaml', 'a: [', '```'], 'page.md:3: is not well formed'],
  ['a directive without an end', ['```nginx', 'listen 80', '```'], 'page.md:3: is not well formed'],
  ['no language', ['```', 'a', '```'], 'page.md:3: "" is not one of the languages'],
  ['text without a purpose', ['```text', 'a', '```'], 'page.md:3: a block of text needs'],
  ['an unknown attribute', ['```sh notrun="x"', '```'], 'page.md:3: unknown attribute notrun="x"'],
  ['a block without an end', ['```sh', 'true'], 'page.md:3: the block has no end'],
];

test.each(BROKEN)('%s', async (_, lines, message) => {
  await expect(run(lines)).rejects.toThrow(message);
});

test('a response with an error status', async () => {
  const server = createServer((_, response) => response.writeHead(404).end('none')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const lines = ['```sh', `curl -s 127.0.0.1:${port}`, '```', '```text output', 'none', '```'];
    await expect(run(lines)).rejects.toThrow('page.md:3: ended with 22');
    await run(['```sh fails', ...lines.slice(1)]);
  } finally {
    server.close();
  }
});

test('a program with a type error', () => {
  const page = pageOf(
    'page.md',
    "```ts\nimport { open } from 'cosift';\n```\n\n```ts\nawait open(1);\n```\n",
  );
  const [error, ...others] = typeErrorsOf([page], join(directory, 'types'), commands);
  expect(error).toMatch(/^page\.md:6: error TS2345/);
  expect(others).toEqual([]);
});

test('a page whose samples are right runs', async () => {
  await run([
    ...['```csv file=own.csv', 'name', 'a', '```'],
    ...[
      '```sh',
      'mkdir in && cd in',
      'NAME="a  b"',
      '```',
      '```sh',
      'echo "$NAME 0.5 in 3 ms"',
      'pwd',
      '```',
    ],
    ...['```text output', 'a b 0.51 in 7 ms', '…/in', '```', '```js', IMPORT, 'const a = 1;', '```'],
    ...['```js', "writeFileSync('a', '');", 'console.log(a);', '```', '```text output', '1', '```'],
    ...['```js', "console.log('b', 0.512345); // b 0.51…", '```'],
    ...[
      '```sh',
      'cat ../own.csv; echo \'{"a":[1,2],"b":3}\' > a.json',
      '```',
      '```text output',
      '…',
      'a',
      '```',
    ],
    ...['```sh', 'cat a.json', '```', '```json output', '{ "a": [1, "…"], "…": "…" }', '```'],
    ...['```sh', 'echo 7.1 a 0.53 b 8.2', '```', '```text output', '… a 0.54 …', '```'],
    ...['1. A list', '', '    with a paragraph and `a ``` b`.', ''],
    ...['```sh not-run="needs another machine"', 'ssh other', '```'],
  ]);
});

test('a program that is a server runs beside another one, until the page ends', async () => {
  const program = (name: string, port: number) => [
    `\`\`\`js file=${name}.mjs`,
    "import { createServer } from 'node:http';",
    `createServer((_, response) => response.end('${name}')).listen(${port}, () => console.log('listening on ${port}'));`,
    '```',
    ...['```sh server', `node ${name}.mjs`, '```', '```text output', `listening on ${port}`, '```'],
  ];
  await run([
    ...program('a', 3000),
    ...program('b', 3001),
    ...['```sh', 'curl -s localhost:3000 localhost:3001', '```', '```text output', 'ab', '```'],
    ...['```js stop-server', "import 'node:fs';"],
    ...["console.log(await fetch('http://localhost:3000').catch(() => 'stopped')); // stopped", '```'],
  ]);
});

test('what is not run is known with its reason', () => {
  const { skipped, steps } = pageOf('page.md', '```sh not-run="needs Docker"\ndocker ps\n```\n');
  expect(steps).toEqual([]);
  expect(skipped).toMatchObject([{ page: 'page.md', line: 1, notRun: 'needs Docker' }]);
});
