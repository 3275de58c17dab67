import { type Command, InvalidArgumentError } from 'commander';
import type { DatabaseChanges } from '../schema/index.js';
import { parseColumns } from './option-values.js';

type Embed = NonNullable<DatabaseChanges['embed']>;
type Passages = NonNullable<Embed['passages']>;

/** Options for the setting `embed` of a database. */
export interface EmbedOptions {
  embed?: string[];
  passages?: Passages;
}

/** Adds the options to a command. With `removes`, they change a database, and the value `none` removes one. */
export function withEmbedOptions<C extends Command>(command: C, { removes = false } = {}): C {
  return command
    .option(
      '--embed <columns>',
      'columns to search by meaning, comma-separated, or one for each use of the option' +
        (removes ? '' : ' (default: every text)'),
      parseColumns,
    )
    .option(
      '--passages <name=value>',
      'how long texts are split: per_record, tokens or overlap, comma-separated; may be repeated' +
        (removes ? '; none removes a value' : ''),
      (text: string, before: Passages | undefined) => parsePassages(text, before, removes),
    );
}

/** Returns the setting `embed` with `columns`; undefined if no option says what it is. */
export function embedIn<E extends Embed>(
  columns: readonly string[] | undefined,
  { passages }: EmbedOptions,
): E | undefined {
  if (columns === undefined && passages === undefined) return undefined;
  return { ...(columns && { columns }), ...(passages && { passages }) } as E;
}

function parsePassages(text: string, before: Passages = {}, removes: boolean): Passages {
  const given = text.split(',').map((part): [string, number | null] => {
    const [, name, value] = /^\s*(per_record|tokens|overlap)\s*=\s*(\d{1,6}|none)\s*$/.exec(part) ?? [];
    if (name === undefined || value === undefined || (value === 'none' && !removes)) {
      throw new InvalidArgumentError(
        'not per_record, tokens or overlap with a whole number, such as per_record=256',
      );
    }
    return [name, value === 'none' ? null : Number(value)];
  });
  return { ...before, ...Object.fromEntries(given) };
}
