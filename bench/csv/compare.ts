/**
 * Compares how `cosift import` and DuckDB read each CSV file of a directory, by the number of rows.
 *
 * usage: tsx bench/csv/compare.ts DIRECTORY DUCKDB_COUNTS [--list OUTCOME]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeInput } from '../../src/cli/import/report.js';
import { openInput } from '../../src/readers/open-input.js';
import { openSource } from '../../src/readers/source.js';

/** How DuckDB reads a file: a line of `duckdb-counts.py`. */
interface Expected {
  file: string;
  rows?: number;
  /** Whether DuckDB takes the first row as names. */
  header?: boolean;
  skipped?: number;
  error?: string;
}

interface Found {
  records: number;
  bad: string[];
  report: string[];
  refusal?: string;
}

async function readFile(file: string): Promise<Found> {
  const found: Found = { records: 0, bad: [], report: [] };
  try {
    const source = await openSource(file, new AbortController().signal);
    const input = await openInput(source, {}, () => undefined);
    for await (const rows of input.records(({ line }, reason) => found.bad.push(`line ${line}: ${reason}`))) {
      found.records += rows.length;
    }
    found.report = describeInput(input);
  } catch (error) {
    found.refusal = (error as Error).message;
  }
  return found;
}

/** Says how the two compare. `silent` is what must not be: another number of rows, and no word about it. */
function outcomeOf({ rows, header, error }: Expected, { records, bad, report, refusal }: Found): string {
  if (error !== undefined || rows === undefined) return 'DuckDB refuses the file';
  if (refusal !== undefined) return 'refused with the reason';
  if (records === rows) return 'equal';
  if (bad.length > 0) return 'the bad lines are named';
  if (records > rows) return 'more records than rows of DuckDB';
  const saysHeader = report.some((line) => line.includes('is read as the header'));
  if (header === false && records === rows - 1 && saysHeader) return 'the report names the header';
  if (report.some((line) => line.includes('empty line'))) return 'the report names the empty lines';
  return 'silent';
}

const [directory = '', counts = '', , listed] = process.argv.slice(2);
const outcomes = new Map<string, number>();
for (const line of readFileSync(counts, 'utf8').trimEnd().split('\n')) {
  const expected = JSON.parse(line) as Expected;
  const found = await readFile(join(directory, expected.file));
  const outcome = outcomeOf(expected, found);
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  if (outcome !== listed) continue;
  console.log(`\n${expected.file}`);
  console.log(`  DuckDB: ${JSON.stringify({ ...expected, file: undefined })}`);
  console.log(`  cosift: ${found.refusal ?? `${found.records} records`}`);
  for (const report of [...found.report, ...found.bad.slice(0, 3)]) console.log(`  ${report.slice(0, 300)}`);
}
for (const [outcome, files] of outcomes) console.log(`${String(files).padStart(6)}  ${outcome}`);
