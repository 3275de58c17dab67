import { CosiftError, type Problem } from '../errors.js';
import { type DatabaseChanges, DEFAULTS, type Limits, MAX_WORD_COLUMNS } from '../schema/index.js';
import type { StoreSettings } from '../store/record-store.js';
import type { ReembeddingSettings } from '../store/reembedding-store.js';

type Embed = ReembeddingSettings['embed'];

/** Returns the settings after a JSON merge patch (RFC 7396). */
export function changedSettings(current: StoreSettings, changes: DatabaseChanges): StoreSettings {
  return merged(current, changes) as StoreSettings;
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  // A map, because `__proto__` is an ordinary name of a column.
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, merged(members.get(name), value));
  }
  return Object.fromEntries(members);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Checks that settings fit each other and the limits. A lower limit than before does not concern what is there.
 *
 * @throws {CosiftError} `invalid_request`
 */
export function checkSettings(
  { lexical, defaults, formats = {} }: StoreSettings,
  { database_columns }: Limits,
  before: Pick<StoreSettings, 'formats'> = {},
): void {
  const [count, countBefore] = [formats, before.formats ?? {}].map((all) => Object.keys(all).length) as [
    number,
    number,
  ];
  if (count > countBefore && count > database_columns) {
    const detail = `the database would have formats of ${count} columns, more than ${database_columns}`;
    throw refused({ pointer: '/formats', code: 'too_many_columns', detail });
  }
  const words = typeof lexical === 'object' ? Object.keys(lexical.columns).length : 1;
  if (words === 0 || words > MAX_WORD_COLUMNS) {
    const detail =
      words === 0
        ? 'would be empty; false switches the index of the words off'
        : `would have ${words} columns, at most ${MAX_WORD_COLUMNS} are taken`;
    throw refused({ pointer: '/lexical/columns', code: 'invalid_value', detail });
  }
  if ((defaults?.lexical ?? 0) > 0 && !lexical) {
    const detail = 'needs the setting lexical, with which the database indexes its words';
    throw refused({ pointer: '/defaults/lexical', code: 'invalid_value', detail });
  }
}

/**
 * Returns the setting `embed` in one form for equal settings: without empty members and defaults, and the members in order.
 */
export function normalEmbed({ columns, passages = {} }: Embed): Embed {
  const isSet = ([member, value]: [string, unknown]) =>
    member !== 'per_record' || value !== DEFAULTS.passages_per_record;
  const set = Object.entries(passages)
    .filter(isSet)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...(columns && { columns }),
    ...(set.length > 0 && { passages: Object.fromEntries(set) }),
  };
}

/**
 * Checks that a model can split texts as `embed` says. `window` are the tokens that the model takes.
 *
 * @throws {CosiftError} `invalid_request`
 */
export function checkPassages({ passages }: Embed, model: string | null, window: number | undefined): void {
  if (passages === undefined) return;
  const refuse = (member: string, detail: string) =>
    refused({ pointer: `/embed/passages${member}`, code: 'invalid_value', detail });
  if (window === undefined) {
    throw refuse(
      '',
      model === null
        ? 'the database has no model, so its texts are not split'
        : `model "${model}" is an endpoint or a function, which gets whole texts`,
    );
  }
  const { tokens = Math.ceil(window / 2), overlap = 0 } = passages;
  if (tokens > window) throw refuse('/tokens', `model "${model}" takes at most ${window} tokens`);
  if (2 * overlap > tokens) {
    throw refuse('/overlap', `must be at most half of the ${tokens} tokens of a passage`);
  }
}

function refused(problem: Problem): CosiftError {
  return new CosiftError('invalid_request', `${problem.pointer}: ${problem.detail}`, { problems: [problem] });
}
