import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { BadRows } from '../../src/cli/import/bad-rows.js';
import { dryRun } from '../../src/cli/import/dry-run.js';
import { type ImportOptions, storeRecords } from '../../src/cli/import/store-records.js';
import { ProgressBar } from '../../src/cli/progress-bar.js';
import { open } from '../../src/library/cosift.js';
import type { InputOptions } from '../../src/readers/input.js';
import { openFile } from '../helpers/imported-files.js';
import { temporaryDirectory } from '../helpers/processes.js';

type Options = InputOptions & Partial<ImportOptions>;

/** The reports of a dry run and of an import into a new database. Nothing is embedded unless `embed` says so. */
async function reportsOf(content: string | Uint8Array, given: Options = {}) {
  const data = join(await temporaryDirectory(), 'data');
  const options = { database: 'd', data, embed: ['none'], ...given };
  if (options.dimensions !== undefined) delete (options as Options).embed;
  const stop = new AbortController().signal;
  const reports = { dry: [] as string[], stored: [] as string[] };
  const checked = new BadRows({}, (text) => reports.dry.push(text));
  const lines = await dryRun((await openFile(content, options)).input, options, {
    badRows: checked,
    stop,
    onProgress: () => undefined,
  });
  const databases = await open(data);
  const badRows = new BadRows({}, (text) => reports.stored.push(text));
  const calls = { stop, bar: new ProgressBar(), badRows, print: () => undefined, progress: { stored: 0 } };
  const { created } = await storeRecords((await openFile(content, options)).input, databases, options, calls);
  await databases.close();
  expect(lines.find((line) => line.startsWith('dry run: '))).toMatch(
    new RegExp(`^dry run: ${created.toLocaleString('en')} records? would`),
  );
  return reports;
}

test('names of columns and members, forms of ids, and values that a record cannot hold', async () => {
  const { dry, stored } = await reportsOf(
    [
      '{"id":1,"data":{"":"x","t":"a"}}',
      '{"id":2,"data":{"a\\nb":"x","t":"b"}}',
      '{"id":3,"data":{"t":"c"}}',
      '{"id":1.5,"data":{"t":"d"}}',
      '{"uuid":"550e8400e29b41d4a716446655440000","data":{"t":"e"}}',
      '{"key":"","data":{"t":"f"}}',
      '{"key":"a","uuid":"11111111-1111-1111-1111-111111111111","data":{"t":"g"}}',
      '{"id":4,"data":{"t":"h"},"timestamps":{"created_at":"yesterday"}}',
      '{"id":5,"data":{"t":"i"},"vector":[1,2]}',
      '{"id":6,"data":{"t":"j"},"embedded_by":"x"}',
      '{"id":7,"data":{"t":"k"},"type":"push"}',
      '{"id":3,"data":{"t":"l"}}',
      '{"id":8,"data":{"t":{}}}',
    ].join('\n'),
  );
  expect(dry).toHaveLength(12);
  expect(dry).toEqual(stored);
});

test('columns that a Parquet file has twice', async () => {
  const columnData = [
    { name: 'id', data: [1, 2] },
    { name: 'a', data: ['x', 'y'] },
    { name: 'a', data: ['z', 'z'] },
  ];
  // The file is refused when it is opened, which both do first.
  const file = new Uint8Array(parquetWriteBuffer({ columnData }));
  await expect(openFile(file)).rejects.toThrow('two columns of the Parquet file are named "a"');
});

test('vectors of the wrong length, and records without one', async () => {
  const rows = '{"id":1,"vector":[1,0]}\n{"id":2,"vector":[1]}\n{"id":3,"a":1}\n{"id":4,"vector":[0,0]}\n';
  const { dry, stored } = await reportsOf(rows, { dimensions: 2 });
  expect(dry).toHaveLength(3);
  expect(dry).toEqual(stored);
});

test('records that are too large', async () => {
  const large = 'x'.repeat((1 << 20) - 10);
  const { dry, stored } = await reportsOf(`{"id":1,"a":"${large}"}\n{"id":2,"a":"y"}\n`);
  expect(dry).toEqual([expect.stringMatching(/^line 1: the record is larger than 1048576 bytes$/)]);
  expect(dry).toEqual(stored);
});

test('more columns than a database has', async () => {
  const rows = Array.from({ length: 30 }, (_, row) => {
    const data = Array.from({ length: 350 }, (_, at) => [`c${row * 350 + at}`, at]);
    return JSON.stringify({ id: row + 1, ...Object.fromEntries(data) });
  });
  const { dry, stored } = await reportsOf(rows.join('\n'));
  expect(dry[0]).toMatch(/^line 29: \/data\/c10\d+: the database has 10000 columns and can have no more$/);
  expect(dry).toEqual(stored);
});

test('texts with too many passages, of the columns that are embedded', async () => {
  const long = 'The committee met on a Tuesday and discussed the budget. '.repeat(1_000);
  const rows = [{ t: 'a' }, { t: long }, { t: long.slice(0, 10_000) }, { u: long }, { t: `b ${long}` }];
  const content = rows.map((row, at) => JSON.stringify({ id: at + 1, ...row })).join('\n');
  const { dry, stored } = await reportsOf(content, { embed: ['t'] });
  expect(dry).toEqual(
    [2, 5].map((line) =>
      expect.stringMatching(
        `^line ${line}: /data: the text of the record makes at least 65 passages, at most 64`,
      ),
    ),
  );
  expect(dry).toEqual(stored);
});
