import { expect, test } from 'vitest';
import { checkOptions } from '../../src/schema/options.js';
import { FORMS } from '../helpers/forms.js';

// The options of a search are checked without the schemas, because the client runs where schemas cannot be compiled.

const VALUES: Record<string, unknown[]> = {
  limit: [-1, 0, 1, 50, 100, 101, 1.5, '1', null, true, Number.NaN, []],
  threshold: [-0.1, -0, 0, 0.5, 1, 1.000_001, '1', null, false, {}],
  total: [true, false, null, 0, 'true'],
  explain: [true, false, null, 0, 'true'],
  highlights: [true, false, null, 0, 'true'],
  prefix: [true, false, null, 0, 'true'],
};

/** The request that a search with this option sends. */
function requestOf(option: string, value: unknown): object {
  if (option === 'limit') return { search: { text: 'a' }, pagination: { limit: value } };
  if (option === 'threshold') return { search: { text: 'a', threshold: value } };
  if (option === 'prefix') return { search: { text: 'a', lexical: 0.5, prefix: value } };
  return { search: { text: 'a', lexical: 0.5 }, [option]: value };
}

const problemOf = (check: () => unknown) => {
  try {
    check();
    return undefined;
  } catch (error) {
    const { problems } = error as { problems: { code: string; detail: string }[] };
    return problems.map(({ code, detail }) => [code, detail]);
  }
};

const CASES = Object.entries(VALUES).flatMap(([option, values]) =>
  values.map((value) => [option, value] as const),
);

test.each(CASES)('%s: %s', (option, value) => {
  const ofOption = problemOf(() => checkOptions('search', { [option]: value }));
  const ofRequest = problemOf(() => FORMS.integer.search(requestOf(option, value)));
  expect(ofOption).toEqual(ofRequest);
});
