// Compares value by value what the import reads from the Parquet files of a folder with what pyarrow reads.
//
//   npx tsx bench/parquet/main.mjs DIR [PYTHON]     PYTHON: with pyarrow, default python3
//
// Prints one line for each file that differs or that only one of the two reads, and a summary. The exit code is 1 when a
// value differs, or when a file fails with anything but a message of the import.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Nested, Numeral } from '../../src/readers/cells.js';
import { ParquetError } from '../../src/readers/parquet/errors.js';
import { ParquetRows } from '../../src/readers/parquet/rows.js';
import { openFile } from '../../src/readers/parquet/temporary-file.js';
import { Refused } from '../../src/readers/parquet/values.js';

const [directory, python = 'python3'] = process.argv.slice(2);
if (directory === undefined) throw new Error('give the folder of the files');
const compare = fileURLToPath(new URL('compare.py', import.meta.url));
const child = spawn(python, [compare], { stdio: ['pipe', 'inherit', 'inherit'] });
const files = readdirSync(directory, { recursive: true })
  .filter((name) => /\.parq(uet)?$/.test(name))
  .sort();
for (const name of files) await send(path.join(directory, name), name);
child.stdin.end();
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;

async function send(file, name) {
  await write({ file, name });
  try {
    const rows = await ParquetRows.open(openFile(file), () => false);
    await write({ columns: rows.names });
    for await (const { cells } of rows.ranges())
      await write({ cells: cells.map((values) => values.map(tagged)) });
    await write({ end: true });
  } catch (error) {
    const isRaw = !(error instanceof ParquetError);
    await write({ end: true, error: error.message, isRaw, stack: isRaw ? error.stack : undefined });
  }
}

/** A value as JSON, in which numbers are texts, so that no digit is lost. */
function tagged(value) {
  if (value instanceof Refused) return { refused: value.reason, text: value.text };
  if (value instanceof Numeral) return { number: value.text };
  if (value instanceof Nested) return { json: value.json };
  return typeof value === 'number' ? { number: String(value) } : value;
}

async function write(line) {
  if (!child.stdin.write(`${JSON.stringify(line)}\n`)) await once(child.stdin, 'drain');
}
