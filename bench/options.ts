import { parseArgs } from 'node:util';
import { type DatasetKey, SEED } from './data/dataset.js';
import { CARDS } from './peers/registry.js';
import { SUITES } from './suites/registry.js';

/** The options of `npm run bench`. */
export interface Options {
  readonly full: boolean;
  readonly suites: ReadonlySet<string>;
  readonly systems: ReadonlySet<string>;
  readonly datasets: readonly DatasetKey[];
  /** Whether real vectors are also measured, if they exist. */
  readonly real: boolean;
  readonly json?: string;
  readonly markdown?: string;
  readonly record?: string;
  readonly compare?: readonly [before: string, after: string];
}

const HELP = `npm run bench -- [options]

Without options about nine minutes, the first time twice that: every suite at 1,000 and 100,000 records, and at the
Debian package descriptions if "npm run bench:debian" has made them, compared with the peers that are quick to build.
  --full                 the full matrix: 1,000, 100,000 and 1,000,000 records, 384 and 768 dimensions, every peer
  --suite a,b            only these suites
  --records n,m          databases of these sizes
  --dimensions n,m       384 by default
  --systems a,b          only these peers; "all", "none"
  --json FILE            writes the run
  --markdown FILE        writes the tables
  --record DIRECTORY     writes run.json, report.md and the charts there
  --compare A.json B.json  compares two runs and measures nothing

suites
${SUITES.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}
systems
  ${CARDS.map(({ name }) => name).join('\n  ')}
`;

/** Parses the arguments. For the help or an error, prints it and ends the process. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args);
  if (values.help) {
    process.stdout.write(HELP);
    process.exit(0);
  }
  if (values.compare !== undefined) {
    const [after] = positionals;
    if (after === undefined) stop('--compare takes two files');
    return {
      full: false,
      suites: new Set(),
      systems: new Set(),
      datasets: [],
      real: false,
      compare: [values.compare, after],
    };
  }
  if (positionals.length > 0) stop(`unknown argument ${positionals.join(' ')}`);
  const full = values.full ?? false;
  const sizes = numbers(values.records) ?? (full ? [1_000, 100_000, 1_000_000] : [1_000, 100_000]);
  const dimensions = numbers(values.dimensions) ?? [384];
  const datasets = dimensions.flatMap((one) =>
    sizes.map((records) => ({ records, dimensions: one, seed: SEED })),
  );
  // Twice the dimensions at one size show how the cost depends on the dimensions.
  if (full && values.dimensions === undefined)
    datasets.push({ records: 100_000, dimensions: 768, seed: SEED });
  return {
    full,
    suites: names(
      values.suite,
      SUITES.map(({ name }) => name),
      'suite',
    ),
    systems: systemsOf(values.systems, full),
    datasets,
    real: values.records === undefined,
    ...(values.json === undefined ? {} : { json: values.json }),
    ...(values.markdown === undefined ? {} : { markdown: values.markdown }),
    ...(values.record === undefined ? {} : { record: values.record }),
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        full: flag,
        help: flag,
        suite: text,
        systems: text,
        records: text,
        dimensions: text,
        json: text,
        markdown: text,
        record: text,
        compare: text,
      },
    });
  } catch (error) {
    return stop((error as Error).message);
  }
}

function systemsOf(list: string | undefined, full: boolean): ReadonlySet<string> {
  if (list === 'none') return new Set();
  const all = CARDS.filter(({ ours }) => !ours);
  if (list === undefined) return new Set(all.filter(({ slow }) => full || !slow).map(({ name }) => name));
  return names(
    list === 'all' ? undefined : list,
    all.map(({ name }) => name),
    'system',
  );
}

function names(list: string | undefined, known: readonly string[], what: string): ReadonlySet<string> {
  const wanted = list?.split(',').map((name) => name.trim()) ?? known;
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined) stop(`no ${what} "${unknown}"; there are ${known.join(', ')}`);
  return new Set(wanted);
}

function numbers(list: string | undefined): number[] | undefined {
  const values = list?.split(',').map(Number);
  if (values?.some((value) => !Number.isInteger(value) || value < 1))
    stop(`"${list}" is not a list of whole numbers`);
  return values;
}

function stop(message: string): never {
  process.stderr.write(`${message}\nsee npm run bench -- --help\n`);
  process.exit(2);
}
