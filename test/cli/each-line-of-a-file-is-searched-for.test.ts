import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'cosift';
import { afterEach, expect, test } from 'vitest';
import { cleanUp, cosift, KEY, serve, temporaryDirectory } from '../helpers/processes.js';

afterEach(cleanUp);

test('a directory and a server find the same for each line of a file', async () => {
  const data = await temporaryDirectory();
  const databases = await open(data);
  const facts = await databases.createDatabase('facts');
  const records = [
    '{"id":1,"data":{"name":"Eiffel Tower","2024":5}}\n',
    '{"id":2,"data":{"name":"Lake Baikal"}}\n',
  ];
  for await (const _ of facts.upsertLines(records));
  await databases.close();
  const file = join(data, 'queries.txt');
  // More lines than a batch has; one is too long for the model, and one is blank.
  const texts = Array.from({ length: 70 }, (_, i) => (i === 66 ? '!'.repeat(8_000) : `a tower ${i}`));
  await writeFile(file, texts.toSpliced(3, 0, ' ').join('\r\n'));
  const options = ['--database', 'facts', '--limit', '1', '--threshold', '0'];
  const command = ['search', '--file', file, ...options];
  const few = join(data, 'few.txt');
  await writeFile(few, [texts[0], texts[1], texts[66]].join('\n'));

  const run = async (target: string[]) => {
    const json = await cosift(...command, '--json', ...target);
    expect(json.code).toBe(1);
    expect(json.stderr).toContain('1 of 70 searches failed');
    const found = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found.map(({ text }) => text)).toEqual(texts);
    for (const [at, { page, error }] of found.entries()) {
      if (at === 66) expect(error.code).toBe('invalid_request');
      else expect(page.results[0].id).toBe(1);
    }
    expect(json.stdout).toContain('{"name":"Eiffel Tower","2024":5}');
    const table = await cosift('search', '--file', few, ...options, '--columns', 'name', ...target);
    expect(table.stdout).toMatch(
      /^a tower 0\nscore {3}id {2}name\n0\.\d{4} {2}1 {3}Eiffel Tower\n\na tower 1\n/,
    );
    return [found, table.stdout, table.stderr];
  };
  const ofDirectory = await run(['--data', data]);
  const { url } = await serve(data);
  expect(await run(['--url', url, '--key', KEY])).toEqual(ofDirectory);

  for (const [wrong, why] of [
    [['search', '--database', 'facts'], 'give either a text, --vector or --file'],
    [['search', 'a', '--file', file, '--database', 'facts'], 'give either a text, --vector or --file'],
    [[...command, '--csv'], '--csv'],
    [[...command, '--vector', '[1]'], '--vector'],
    [['search', '--file', join(data, 'missing'), '--database', 'facts'], 'there is no file'],
  ] as const) {
    const { code, stderr } = await cosift(...wrong, '--url', url, '--key', KEY);
    expect(code).not.toBe(0);
    expect(stderr).toContain(why);
  }
});
