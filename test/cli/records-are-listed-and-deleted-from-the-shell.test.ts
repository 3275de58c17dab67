import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from 'cosift';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../scripts/postgres/free-port.js';
import { cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The data of each record, with its columns in the order that is stored. */
const FACTS = [
  [
    ['name', 'Eiffel Tower'],
    ['2024', 5],
    ['country', 'France'],
    ['height_m', 330],
    ['note', 'a \u001b[31m\u009b "b", c\nd'],
  ],
  [
    ['name', '東京タワー'],
    ['1990', 0.1],
    ['country', 'Japan'],
    ['height_m', 333],
    ['account', '12345678901234567890'],
  ],
  [
    ['name', 'Atlantis'],
    ['country', ''],
    ['open', true],
    ['__proto__', 'p'],
  ],
];
const FACT_LINES = FACTS.map((data, at) => {
  const members = data.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{"id":${at + 1},"data":{${members.join(',')}}}\n`;
});

/** Far more than the processes of one test take. */
const TIMEOUT_MS = 300_000;

/** Made once: a database of texts, and one of many records with vectors. */
let made = '';
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'cosift-cli-'));
  const cosift = await open(made);
  const facts = await cosift.createDatabase('facts');
  for await (const _ of facts.upsertLines(FACT_LINES));
  const many = await cosift.createDatabase('many', { dimensions: 4 });
  for await (const _ of many.upsertLines(lines(1, 1_234)));
  await cosift.close();
}, TIMEOUT_MS);
afterAll(() => rm(made, { recursive: true, force: true }));

async function copyOfData(): Promise<string> {
  const data = await temporaryDirectory();
  await cp(made, data, { recursive: true });
  return data;
}

async function outputs(commands: readonly string[][], target: readonly string[]): Promise<string[]> {
  const texts: string[] = [];
  for (const command of commands) {
    const { code, stdout, stderr } = await cosift(...command, ...target);
    expect(code, `${command}: ${stderr}`).toBe(0);
    texts.push(stdout);
  }
  return texts;
}

const COMMANDS = [
  ['query', 'facts', '--sort', 'name'],
  ['search', 'a tower', '--database', 'facts', '--all', '--csv', '--columns', 'name', '--threshold', '0'],
  ['get', 'facts', '2', '--json', '--vectors'],
  ['databases', 'show', 'facts'],
  ['query', 'facts', '--all', '--csv'],
  ['query', 'facts', '--json', '--limit', '2', '--sort-time', 'created_at'],
  ['query', 'facts', '--where', "country = 'France' or open = true", '--columns', 'name,country'],
  ['query', 'many', '--all', '--json', '--where', 'number > 17', '--sort', 'number', '--desc'],
  ['query', 'many', '--count', '--where', '{"column":"number","operator":"less_than","value":18}'],
  ['search', 'a tower', '--database', 'facts', '--threshold', '0.1', '--where', 'height_m is not empty'],
  ['get', 'facts', '1'],
  ['databases', 'list', '--json'],
  ['like', 'facts', '1', '--not', '3', '--threshold', '0', '--columns', 'name'],
  ['search', '--vector', '[0, 0, 6, 1]', '--database', 'many', '--limit', '2', '--json', '--columns', 'none'],
];

test(
  'records are distinct by a column',
  async () => {
    const directory = await copyOfData();
    const queries = join(directory, 'queries.txt');
    await writeFile(queries, 'a tower\n');
    const library = await open(directory);
    const kinds = await library.createDatabase('kinds');
    const names = ['a tower', 'a tall tower', 'a lake', 'a deep lake'];
    await kinds.upsert(names.map((name, at) => ({ id: at + 1, data: { name, kind: at < 2 ? 't' : 'l' } })));
    await library.close();
    const all = ['--distinct', 'kind', '--threshold', '0', '--columns', 'kind'];
    const commands = [
      ['query', 'kinds', '--distinct', 'kind', '--count'],
      ['query', 'kinds', '--distinct', 'kind', '--sort', 'name', '--all', '--csv', '--columns', 'name'],
      ['search', 'a tower', '--database', 'kinds', '--csv', ...all],
      ['like', 'kinds', '1', '--csv', ...all],
      ['search', '--file', queries, '--database', 'kinds', ...all],
    ];
    const [count, query, search, like, file] = await outputs(commands, ['--data', directory]);
    expect(count).toBe('2\n');
    expect(query).toBe('id,key,name\n4,,a deep lake\n2,,a tall tower\n');
    expect(search).toMatch(/^relevance_score,id,kind\n0\.\d+,\d,t\n0\.\d+,\d,l\n$/);
    expect(like).toMatch(/^relevance_score,id,kind\n0\.\d+,2,t\n0\.\d+,\d,l\n$/);
    expect(file?.trim().split('\n')).toHaveLength(4);
    const misspelt = await cosift('query', 'kinds', '--distinct', 'knid', '--data', directory);
    expect(misspelt.stderr).toContain('"kind"');
  },
  TIMEOUT_MS,
);

test(
  'a server and its directory give the same: every record once, every member in its order',
  async () => {
    const data = await copyOfData();
    const ofDirectory = await outputs(COMMANDS.slice(0, 4), ['--data', data]);
    const { url } = await serve(data);
    const server = ['--url', url, '--key', KEY];
    const ofServer = await outputs(COMMANDS, server);
    // Sizes in memory are not those of another process.
    const withoutSizes = (text: string) => text.replaceAll(/^(memory|disk) .*$/gm, '');
    expect(ofServer.slice(0, 4).map(withoutSizes)).toEqual(ofDirectory.map(withoutSizes));

    const [sorted = '', found, two = '', shown, csv = '', json = '', where = '', all = '', ...others] =
      ofServer;
    const [count, search, one, list = '', like, near = ''] = others;
    expect(sorted.split('\n').map((line) => line.slice(0, 1))).toEqual(['i', '3', '1', '2', '']);
    expect(sorted).not.toContain('\u001b');
    expect(sorted).toContain('12345678901234567890');
    const [header = [], ...rows] = parse(csv) as string[][];
    // The columns are in the order in which they came, which objects of JavaScript do not keep.
    expect(csv).toMatch(/^id,key,name,2024,country,height_m,note,1990,account,open,__proto__\n/);
    for (const [at, data] of FACTS.entries()) {
      const row = rows.find(([id]) => id === String(at + 1))!;
      for (const [name, value] of data) expect(row[header.indexOf(String(name))]).toBe(String(value));
    }
    expect(Object.keys(JSON.parse(json))).toEqual(['results', 'pagination']);
    expect(json).toMatch(/"name": "Eiffel Tower",\s+"2024": 5,\s+"country"/);
    expect(json).not.toMatch(/\u009b/);
    expect(where).toMatch(/^id {2}name {10}country\n/);
    expect(where.trim().split('\n')).toHaveLength(3);
    const numbers = all
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).data.number);
    expect(numbers).toEqual(Array.from({ length: 1_234 - 17 }, (_, at) => 1_234 - at));
    expect(count).toBe('17\n');
    expect(shown).toMatch(/^height_m +number +2$/m);
    expect(search).toMatch(/^score {3}id {2}name/);
    expect(found).toMatch(/^relevance_score,id,key,name\n0\.\d+,1,,Eiffel Tower\n/);
    expect(one).toMatch(/^data\.2024 +5$/m);
    expect(Object.keys(JSON.parse(two))).toEqual([
      'id',
      'uuid',
      'data',
      'timestamps',
      'vector',
      'embedded_by',
    ]);
    expect(JSON.parse(list).map(({ id }: { id: string }) => id)).toEqual(['facts', 'many']);

    expect(like).toMatch(/^score +id +name\n0\.\d+ +2 +東京タワー\n$/);
    expect(await cosift('like', 'facts', '1', 'key:none', ...server)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the examples: no record has the id key:none'),
    });
    expect(await cosift('like', 'facts', '1', '--not', '9', ...server)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--not: no record has the id 9'),
    });

    expect(JSON.parse(near).results).toHaveLength(2);
    expect(JSON.parse(near).results[0].relevance_score).toBeGreaterThan(0.9);
    for (const [vector, why] of [
      ['[1, "2"]', 'not a list of numbers, such as [0.1, -0.2]'],
      ['[1, 2', 'not a list of numbers'],
      ['[1, 2]', 'vector has 2 values, database expects 4'],
    ] as const) {
      const { code, stderr } = await cosift('search', '--vector', vector, '--database', 'many', ...server);
      expect(code).not.toBe(0);
      expect(stderr).toContain(why);
    }

    // A reader that stops early ends the command quietly.
    const query = `"${process.execPath}" "${MAIN}" query many --all --json --url ${url} --key ${KEY}`;
    const piped = spawnSync('bash', ['-c', `${query} | head -n 1; echo "\${PIPESTATUS[0]}"`], {
      encoding: 'utf8',
    });
    expect(piped.stderr).toBe('');
    expect(piped.stdout).toMatch(/^\{"id".*\n(?:141|0)\n$/);
  },
  TIMEOUT_MS,
);

test(
  'records are deleted by ids or by a filter, which has to be confirmed',
  async () => {
    const data = await copyOfData();
    const target = ['--data', data];
    const count = async (database: string) =>
      Number((await cosift('query', database, '--count', ...target)).stdout);

    const refused = await cosift('delete', 'many', '--where', 'number <= 200', ...target);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('delete 200 records of "many": give --yes');
    expect(await cosift('delete', 'many', ...target)).toMatchObject({ code: 1 });
    expect(await cosift('delete', 'many', '--where', '', '--yes', ...target)).toMatchObject({ code: 1 });
    expect(await count('many')).toBe(1_234);

    const deleted = await cosift('delete', 'many', '--where', 'number <= 200', '--yes', ...target);
    expect(deleted).toMatchObject({ code: 0, stdout: 'deleted 200 records\n' });
    const old = await cosift('delete', 'many', '--until', '2001-01-01', '--yes', ...target);
    expect([old.code, old.stdout]).toEqual([0, 'deleted 0 records\n']);
    const both = await cosift('delete', 'many', '--id', '201', '--since', '2001-01-01', ...target);
    expect([both.code, both.stderr]).toEqual([1, expect.stringContaining('--since')]);
    const until = ['--where', 'number <= 200', '--since', 'x'];
    expect((await cosift('delete', 'many', ...until, '--yes', ...target)).stderr).toContain(
      '--since: must be an ISO 8601',
    );
    const byId = await cosift('delete', 'many', '--id', '201', '--id', '7', '--id', '202', ...target);
    expect(byId).toMatchObject({
      code: 0,
      stdout: 'deleted 2 records; there is no record for the other ids\n',
    });
    expect(await count('many')).toBe(1_032);
    const under = (time: string, ...more: string[]) =>
      cosift('delete', 'many', '--id', '203', '--if-changed-at', time, ...more, ...target);
    expect(await under('2001-01-01')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--if-changed-at: record 203 was changed at 2'),
    });
    expect((await under('2001-01-01', '--id', '204')).stderr).toContain('--if-changed-at needs one --id');
    const { timestamps } = JSON.parse((await cosift('get', 'many', '203', '--json', ...target)).stdout);
    expect(await under(timestamps.changed_at)).toMatchObject({ code: 0, stdout: 'deleted 1 record\n' });

    const misspelt = await cosift('delete', 'facts', '--where', 'nme = 1', '--yes', '--json', ...target);
    expect(misspelt).toMatchObject({ code: 1, stdout: '' });
    expect(misspelt.stderr).toContain('no record has a column "nme"; did you mean "name"?');

    expect((await cosift('databases', 'drop', 'facts', ...target)).stderr).toContain('give --yes');
    const dropped = await cosift('databases', 'drop', 'facts', '--yes', ...target);
    expect(dropped).toMatchObject({ code: 0, stdout: 'dropped "facts" with 3 records\n' });
    expect((await cosift('databases', 'list', ...target)).stdout).not.toContain('facts');
  },
  TIMEOUT_MS,
);

test(
  'a command that does not create a database creates nothing',
  async () => {
    const parent = await temporaryDirectory();
    const commands = [
      ['query', 'facts'],
      ['search', 'x', '--database', 'facts'],
      ['get', 'facts', '1'],
      ['delete', 'facts', '--id', '1'],
      ['databases', 'list'],
      ['databases', 'show', 'facts'],
      ['databases', 'drop', 'facts', '--yes'],
      ['reembed', 'facts', '--cancel'],
      ['key', 'list'],
    ];
    for (const command of commands) {
      const { code, stderr } = await cosift(...command, '--data', join(parent, 'missing'));
      expect(code, String(command)).toBe(1);
      expect(stderr).toMatch(/^cosift: there is no data directory .*missing.*--data.*\n$/);
    }
    await mkdir(join(parent, 'other'));
    const other = await cosift('databases', 'list', '--data', join(parent, 'other'));
    expect(other.stderr).toMatch(/other is no data directory of cosift: .*--data/);
    expect(await readdir(parent)).toEqual(['other']);
    expect(existsSync(join(parent, 'other', 'databases'))).toBe(false);
  },
  TIMEOUT_MS,
);

test(
  'a failure says what to do, at once',
  async () => {
    const data = await copyOfData();
    const { url } = await serve(data);
    const failure = async (...args: string[]) => {
      const { code, stdout, stderr } = await cosift(...args);
      expect({ code, stdout, lines: stderr.split('\n').length }, stderr).toEqual({
        code: 1,
        stdout: '',
        lines: 2,
      });
      return stderr;
    };
    const server = ['--url', url, '--key', KEY];
    expect(await failure('query', 'fatcs', ...server)).toContain('did you mean "facts"?');
    expect(await failure('get', 'other-name', '1', ...server)).toContain('there are: facts, many');
    expect(await failure('query', 'facts', '--url', url, '--key', 'wrong')).toContain('--key or COSIFT_KEY');
    expect(await failure('query', 'facts', '--url', `${url}/v1`, '--key', KEY)).toContain('check --url');
    const down = `http://127.0.0.1:${await freePort()}`;
    expect(await failure('databases', 'list', '--url', down, '--key', KEY)).toContain(
      `${down} cannot be reached`,
    );
    expect(await failure('query', 'facts', '--data', data)).toMatch(/in use by process \d+; .*--url/);
    expect(await failure('get', 'facts', '7', ...server)).toContain('there is no record 7 in "facts"');
    expect(await failure('get', 'facts', '007', ...server)).toContain('neither an integer, nor a UUID');
    expect(await failure('query', 'facts', '--limit', '101', ...server)).toBe(
      'cosift: --limit: is 101, must be from 1 to 100\n',
    );
    expect(await failure('query', 'facts', '--since', 'x', ...server)).toContain(
      '--since: must be an ISO 8601',
    );
    expect(await failure('query', 'facts', '--where', '{"rules":[]}', ...server)).toContain(
      '--where /rules: ',
    );
  },
  TIMEOUT_MS,
);

test(
  'a misspelt column is reported, and deletes nothing',
  async () => {
    const data = ['--data', await copyOfData()];
    const remove = (...args: string[]) => cosift('delete', 'facts', ...args, ...data);
    const unknown = await remove('--where', 'heihgt_m is empty', '--yes');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain(
      'nothing was deleted: no record has a column "heihgt_m"; did you mean "height_m"?',
    );
    expect((await remove('--where', '{}', '--yes')).stderr).toContain('rules is missing');
    expect((await remove('--where', '{"rules":[null]}', '--yes')).stderr).toContain('--where /rules/0');
    expect((await remove('--id', '99')).stdout).toBe('deleted 0 records; there is no record for this id\n');
    const listed = await cosift('query', 'facts', '--sort', 'nmae', '--columns', 'name,contry', ...data);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toContain('Eiffel Tower');
    for (const name of ['name', 'country']) expect(listed.stderr).toContain(`did you mean "${name}"?`);
    expect(listed.stderr.trim().split('\n')).toHaveLength(2);
  },
  TIMEOUT_MS,
);

test(
  'no two columns of CSV have one name',
  async () => {
    const data = await temporaryDirectory();
    const library = await open(data);
    const taken = await library.createDatabase('taken', { dimensions: 1 });
    const line = { key: 'k', data: { id: 'a', key: 'b', name: 'c' }, vector: [1] };
    for await (const _ of taken.upsertLines([`${JSON.stringify(line)}\n`]));
    await library.close();
    const all = await cosift('query', 'taken', '--all', '--csv', '--data', data);
    expect(all.stdout).toBe('id,key,name\na,b,c\n');
    expect(all.stderr).toContain('the data has a column "id", so the CSV lacks the id of the records');
    const some = await cosift('query', 'taken', '--csv', '--columns', 'key', '--data', data);
    expect(some.stdout).toBe('id,key\n1,b\n');
  },
  TIMEOUT_MS,
);

test(
  'on a terminal, long cells are cut, and a deletion is asked for',
  async ({ skip }) => {
    if (spawnSync('script', ['--version']).status !== 0) skip('there is no `script` to make a terminal with');
    const data = await copyOfData();
    const typed = (input: string, command: string) => {
      const shell = `stty cols 40; "${process.execPath}" "${MAIN}" ${command} --data "${data}"`;
      return spawnSync('script', ['-qec', shell, '/dev/null'], { encoding: 'utf8', input });
    };
    const table = typed('', 'query facts --sort name').stdout.replaceAll('\r', '').trimEnd().split('\n');
    expect(table[0]).toMatch(/^\d more columns do not fit; --columns/);
    for (const line of table.slice(1)) expect(line.length).toBeLessThanOrEqual(40);
    const csv = typed('', 'query facts --csv --columns note').stdout;
    for (const character of ['\u001b', '\u009b']) expect(csv).not.toContain(character);
    const kept = typed('no\n', 'delete many --where "number > 4"');
    expect(kept.stdout).toMatch(/delete 1,230 records of "many"\? Type yes to go on: /);
    expect(kept.stdout).toContain('nothing was deleted');
    expect(kept.status).toBe(1);
    expect(typed('yes\n', 'delete many --where "number > 4"').stdout).toContain('deleted 1,230 records');
    expect(typed('many\n', 'databases drop many').stdout).toContain('dropped "many" with 4 records');
  },
  TIMEOUT_MS,
);
