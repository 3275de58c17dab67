import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The options of `npm run quality`. */
export interface Options {
  readonly sets: ReadonlySet<string>;
  /** Queries of each kind of the Debian set. */
  readonly each: number;
  /** Lexical weights, beside 0. */
  readonly weights: readonly number[];
  /** Further models by name, with their sources. */
  readonly models: Readonly<Record<string, string>>;
  /** The data directory, which keeps the embedded records for the next run. */
  readonly data: string;
  readonly record?: string;
}

const SETS = ['demo', 'debian'];
const EACH = 250;
const WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
/** The weight that the docs suggest. */
export const SUGGESTED_WEIGHT = 0.3;

/** The default data directory. */
export const DATA = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cosift-quality');

const HELP = `npm run quality -- [options]

Ranks the answers of judged queries by meaning alone and with lexical weights, and compares them. The Debian packages
have to be made once by "npm run bench:debian"; embedding them takes minutes, once.
  --quick            only the demo facts, with the suggested weight ${SUGGESTED_WEIGHT}: seconds
  --set a,b          only these sets: ${SETS.join(', ')}
  --each N           queries of each kind of the Debian set (${EACH})
  --weights a,b      lexical weights (${WEIGHTS.join(',')})
  --model NAME=SOURCE  another model to compare: a directory or an address; may be repeated
  --data DIRECTORY   the data directory with the embedded records (cosift-quality in the cache of this user)
  --record DIRECTORY writes quality.json and quality.md there
`;

/** Parses the arguments. For the help or an error, prints it and ends the process. */
export function readOptions(args: readonly string[]): Options {
  const values = parse(args);
  if (values.help) {
    process.stdout.write(HELP);
    process.exit(0);
  }
  const quick = values.quick ?? false;
  const each = Number(values.each ?? EACH);
  if (!Number.isInteger(each) || each < 2) stop('--each takes a whole number from 2 on');
  const weights = values.weights?.split(',').map(Number) ?? (quick ? [SUGGESTED_WEIGHT] : WEIGHTS);
  if (!weights.every((weight) => weight > 0 && weight <= 1)) stop('--weights takes numbers above 0, up to 1');
  const sets = values.set?.split(',') ?? (quick ? ['demo'] : SETS);
  const unknown = sets.find((name) => !SETS.includes(name));
  if (unknown !== undefined) stop(`no set "${unknown}"; there are ${SETS.join(', ')}`);
  return {
    sets: new Set(sets),
    each,
    weights,
    models: Object.fromEntries((values.model ?? []).map(modelOf)),
    data: values.data ?? DATA,
    ...(values.record === undefined ? {} : { record: values.record }),
  };
}

function modelOf(argument: string): [name: string, source: string] {
  const equals = argument.indexOf('=');
  if (equals < 1) stop('--model takes NAME=SOURCE');
  return [argument.slice(0, equals), argument.slice(equals + 1)];
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: flag,
        quick: flag,
        set: text,
        each: text,
        weights: text,
        model: { type: 'string', multiple: true },
        data: text,
        record: text,
      },
    }).values;
  } catch (error) {
    return stop((error as Error).message);
  }
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
