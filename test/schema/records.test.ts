import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkServiceSchema } from '../../src/server/variants/schemas.js';

interface Golden {
  name: string;
  text: string;
  problems: { pointer: string; code: string }[];
}

const golden = JSON.parse(
  readFileSync(new URL('../golden/records.json', import.meta.url), 'utf8'),
) as Golden[];

// What only a parser sees, or what depends on two members at once: no schema can say it.
const BEYOND_SCHEMA = new Set([
  'malformed_json',
  'duplicate_member',
  'lone_surrogate',
  'number_out_of_range',
  'too_deep',
  'mixed_time_names',
  'invalid_time',
  'identity_conflict',
]);
// What depends on the setting `flatten` of the database.
const isNested = ({ pointer, code }: Golden['problems'][number]) =>
  code === 'wrong_type' && pointer.startsWith('/data/');
const described = golden.filter(({ problems }) =>
  problems.every((problem) => !BEYOND_SCHEMA.has(problem.code) && !isNested(problem)),
);

const refusal = (text: string) => {
  try {
    checkServiceSchema('NewRecord', JSON.parse(text));
    return undefined;
  } catch (error) {
    return error as { problems: { pointer: string }[] };
  }
};

test('there are records of both kinds to compare', () => {
  expect(described.filter(({ problems }) => problems.length === 0).length).toBeGreaterThan(10);
  expect(described.filter(({ problems }) => problems.length > 0).length).toBeGreaterThan(20);
});

test.each(described)(
  'the published schema of a record agrees with the parser: $name',
  ({ text, problems }) => {
    const refused = refusal(text);
    expect(refused === undefined).toBe(problems.length === 0);
    if (refused !== undefined) {
      expect(problems.map(({ pointer }) => pointer)).toContain(refused.problems[0]?.pointer);
    }
  },
);
