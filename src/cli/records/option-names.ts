import { CosiftError } from '../../errors.js';

/** The options of the command line that give members of a request. */
const OPTIONS = [
  ['/filter', '--where'],
  ['/search/text', 'the text'],
  ['/search/vector', '--vector'],
  ['/search/like/positive', 'the examples'],
  ['/search/like/negative', '--not'],
  ['/search/like', 'the examples'],
  ['/search/threshold', '--threshold'],
  ['/search/lexical', '--lexical'],
  ['/search/prefix', '--prefix'],
  ['/highlights', '--highlights'],
  ['/passages', '--passages'],
  ['/embed/passages', '--passages'],
  ['/neighbours', '--neighbours'],
  ['/search/boosts', '--boost'],
  ['/defaults', '--default'],
  ['/columns', '--columns'],
  ['/distinct/column', '--distinct'],
  ['/distinct', '--distinct'],
  ['/pagination/limit', '--limit'],
  ['/time_range/start_time', '--since'],
  ['/time_range/end_time', '--until'],
  ['/time_range', '--since and --until'],
  ['/sort/column', '--sort'],
  ['/ids/0/if_changed_at', '--if-changed-at'],
  ['/name', '--name'],
  ['/actions', '--actions'],
  ['/databases', '--databases'],
  ['/expires_at', '--expires'],
] as const;

/** Returns an error that names options of the command line instead of members of the request. */
export function withOptionNames(error: unknown): unknown {
  if (!(error instanceof CosiftError)) return error;
  const { code, detail, fields, cause } = error;
  const problems = error.problems.map((problem) => ({ ...problem, pointer: optionOf(problem.pointer) }));
  return new CosiftError(code, optionOf(detail), { problems, fields, cause });
}

/**
 * Replaces a pointer at the beginning of a text. The pointer of a rule stays after the name of the option; the number of
 * an item of a list does not, because the text shows the item.
 */
function optionOf(given: string): string {
  // The library names members with dots, and in its own way.
  const text = given
    .replace(/^[\w.]+(?=:)/, (name) => `/${name.replaceAll('.', '/')}`)
    .replace(/^\/timeRange\b/, '/time_range');
  const found = OPTIONS.find(([pointer]) => text.startsWith(pointer));
  if (found === undefined) return given;
  const [pointer, option] = found;
  const rest = text.slice(pointer.length).replace(/^\/\d+(?=:|$)/, '');
  if (option !== '--boost') return rest.startsWith('/') ? `${option} ${rest}` : option + rest;
  // Of the boosts that are given, the text does not tell which one is meant.
  return option + rest.replace(/^\/(\d+)\//, (_, at) => ` (number ${Number(at) + 1}): `);
}
