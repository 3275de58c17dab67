import { type Command, InvalidArgumentError, Option } from 'commander';
import { parsePairs } from '../readers/column-types.js';

type Weights = Record<string, number | null>;

/** Options for the setting `lexical` of a database. */
export interface LexicalOptions {
  lexical?: boolean;
  lexicalColumns?: Weights;
}

/** Adds the options to a command. `help` says what `--lexical` does; with `removes`, a weight `none` removes a column. */
export function withLexicalOptions<C extends Command>(command: C, help: string, { removes = false } = {}): C {
  return command
    .option('--lexical', help)
    .addOption(
      new Option(
        '--lexical-columns <column=weight>',
        'columns whose words are indexed, embedded or not, with weights from 1 to 100, comma-separated; may be repeated' +
          (removes ? '; none removes a column' : ''),
      )
        .argParser((text: string, before: Weights | undefined) => parseWeights(text, before, removes))
        .conflicts('lexical'),
    );
}

/** Returns the setting `lexical`; undefined if no option says what it is. */
export function lexicalIn<Weight extends number | null>({ lexical, lexicalColumns }: LexicalOptions) {
  return lexicalColumns === undefined ? lexical : { columns: lexicalColumns as Record<string, Weight> };
}

function parseWeights(text: string, before: Weights = {}, removes: boolean): Weights {
  try {
    const pairs = Object.entries(parsePairs(text, 'COLUMN=WEIGHT', undefined));
    const weights = pairs.map(([name, weight]) => [
      name,
      removes && weight === 'none' ? null : weightOf(weight),
    ]);
    return { ...before, ...Object.fromEntries(weights) };
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function weightOf(text: string): number {
  const weight = Number(text);
  if (!/^\d{1,3}$/.test(text) || weight < 1 || weight > 100) {
    throw new Error(`"${text}" is not a whole number from 1 to 100`);
  }
  return weight;
}
