import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CosiftError } from '../../src/errors.js';
import { FORMS } from '../helpers/forms.js';

interface Golden {
  matches: { name: string; filter: unknown }[];
  refused: { name: string; filter: unknown; problems: { pointer: string; code: string }[] }[];
}

const golden = JSON.parse(readFileSync(new URL('../golden/filter.json', import.meta.url), 'utf8')) as Golden;

const check = (filter: unknown) => FORMS.uuid.search({ search: { text: 'x' }, filter });

describe('the filter schema agrees with the engine', () => {
  test.each(golden.matches)('takes: $name', ({ filter }) => {
    expect(() => check(filter)).not.toThrow();
  });

  test.each(golden.refused)('refuses at the same place: $name', ({ filter, problems }) => {
    let error: unknown;
    try {
      check(filter);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(CosiftError);
    const refusal = error as CosiftError;
    expect(refusal.code).toBe('invalid_filter');
    const expected = problems.map(({ pointer }) => `/filter${pointer}`);
    expect(expected).toContain(refusal.problems[0]?.pointer);
  });
});

test('an absent condition is AND in variant B and invalid in variant A', () => {
  const filter = { rules: [{ column: 'a', operator: 'is_empty' }] };
  expect(() => FORMS.integer.search({ search: { text: 'x' }, filter })).not.toThrow();
  expect(() => check(filter)).toThrow(/condition/);
});
