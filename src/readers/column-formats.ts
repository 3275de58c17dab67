import type { ValueFormats } from '../schema/types/requests.js';
import type { DatabaseDescription } from '../schema/types/responses.js';
import type { Input } from './input.js';

/** The formats of the columns of a file beyond those that a database has; undefined without any. */
export function addedFormats(input: Input, existing: ValueFormats = {}): ValueFormats | undefined {
  const added = formatsOf(input).filter(([name]) => !Object.hasOwn(existing, name));
  return added.length === 0 ? undefined : Object.fromEntries(added);
}

/** How the columns of a file of CSV differ from those of a database, for people. */
export function differences(
  input: Input,
  { formats = {}, columns }: Pick<DatabaseDescription, 'formats' | 'columns'>,
): string[] {
  const typesOf = new Map(columns.map(({ name, types }) => [name, types]));
  return (input.inspection?.names ?? []).flatMap((name) => {
    const all = input.formatsOf(name);
    const [here] = all;
    if (all.length === 0) return [];
    const there = Object.hasOwn(formats, name) ? formats[name] : undefined;
    const type = input.typeOf(name);
    const types = typesOf.get(name) ?? [];
    if (types.includes('string') && !types.some((one) => one === type)) {
      return [`column "${name}": a ${type} in the file, and text in the database: --types ${name}=text`];
    }
    if (there !== undefined && !all.includes(there)) {
      const format = here ?? 'of JavaScript';
      return [
        `column "${name}": the file has the format ${format}, and exports of the database have ${there}`,
      ];
    }
    if (there === undefined && here !== undefined && types.some((one) => one === type)) {
      return [`column "${name}": exports of the database have the format ${here} from now on`];
    }
    return [];
  });
}

function formatsOf(input: Input): [name: string, format: string][] {
  return (input.inspection?.names ?? []).flatMap((name) => {
    const [format] = input.formatsOf(name);
    return format === undefined ? [] : [[name, format]];
  });
}
