import { count, list, object, oneOf, text } from './json-schema.js';

export const doctorCheck = object('The outcome of one check of the doctor.', {
  check: { type: 'string', description: 'What was checked.', examples: ['records'] },
  'database?': text('The database; absent for a check of the whole directory.'),
  status: oneOf(
    ['ok', 'problem', 'repaired'],
    'problem: something is wrong. repaired: something was wrong, and `--repair` repaired it.',
  ),
  detail: text('What was checked, or what is wrong, for people.'),
  'problems?': list(
    object('Something that is wrong.', {
      detail: text('What is wrong, for people.'),
      'records?': count('Number of affected records; absent where no record is known.'),
      'ids?': list({ type: 'integer' }, 'Integer ids of the first of them, up to 10.'),
    }),
    'What is wrong, each with the affected records.',
  ),
  'advice?': text('What to do about the problem.'),
});
