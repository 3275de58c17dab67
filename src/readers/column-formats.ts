import type { DatabaseSettings, ValueFormats } from '../schema/types/requests.js';
import type { DatabaseDescription } from '../schema/types/responses.js';
import type { Input } from './input.js';

/** The formats of the columns of a file beyond those that a database has; undefined without any. */
export function addedFormats(input: Input, existing: ValueFormats = {}): ValueFormats | undefined {
  const added = formatsOf(input).filter(([name]) => !Object.hasOwn(existing, name));
  return added.length === 0 ? undefined : Object.fromEntries(added);
}

/** The columns that a file writes in another format than a database. */
export function otherFormats(input: Input, existing: ValueFormats = {}): string[] {
  return formatsOf(input).flatMap(([name]) => {
    const isOther =
      Object.hasOwn(existing, name) && !input.inspection?.formatsOf(name).includes(existing[name]);
    return isOther ? [name] : [];
  });
}

/** The settings that add formats to a database. */
export function settingsWith(
  { embed, model, dimensions, lexical }: DatabaseDescription,
  formats: ValueFormats,
): DatabaseSettings {
  return { embed, ...(model === null ? { dimensions } : { model }), lexical, formats };
}

function formatsOf(input: Input): [name: string, format: string][] {
  return (input.inspection?.names ?? []).flatMap((name) => {
    const format = input.formatOf(name);
    return format === undefined ? [] : [[name, format]];
  });
}
