import { isDeepStrictEqual } from 'node:util';
import { CosiftError } from '../errors.js';
import type { StoredDatabase, StoreSettings } from './record-store.js';

/** The settings of a database that is described. */
export function settingsIn({
  model,
  fingerprint,
  dimensions,
  embed,
  lexical,
  flatten,
  defaults,
  formats,
}: Pick<StoredDatabase, keyof StoreSettings>): StoreSettings {
  return { model, fingerprint, dimensions, embed, lexical, flatten, defaults, formats };
}

/** Whether records have the same vectors with both settings. */
export function makesSameVectors(one: StoreSettings, other: StoreSettings): boolean {
  return isDeepStrictEqual(vectorsOf(one), vectorsOf(other));
}

function vectorsOf({ model, fingerprint, dimensions, embed = {} }: StoreSettings): object {
  return { model, fingerprint, dimensions, embed };
}

/**
 * Checks that a database that exists has the settings with which it would have been created. Those that no vector depends
 * on may be left out.
 *
 * @throws {CosiftError} `database_exists`
 */
export function checkSameSettings(existing: StoredDatabase, given: StoreSettings): void {
  const settings = settingsIn(existing);
  const { lexical, flatten, defaults, formats } = given;
  const isSame = (value: unknown, current: unknown) =>
    value === undefined || isDeepStrictEqual(value, current);
  const others =
    isSame(lexical, settings.lexical) &&
    isSame(flatten, settings.flatten ?? false) &&
    isSame(defaults, settings.defaults ?? {}) &&
    isSame(formats, settings.formats ?? {});
  if (others && makesSameVectors(settings, given)) return;
  const id = JSON.stringify(existing.id);
  throw new CosiftError(
    'database_exists',
    `database ${id} exists with other settings: ${JSON.stringify(settings)}`,
  );
}
