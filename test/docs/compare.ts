// Compares what a sample printed with what its page shows.
//
// Numbers with a decimal point may differ by 0.02, because scores differ in their last digits between kinds of CPUs. Any
// UUID matches a UUID, any time a time, any duration a duration and any rate a rate. `…` matches any text within a line,
// and any lines if a line of the page consists only of it. In JSON, a member or an element "…" stands for any further
// ones. Everything else is equal, but the width of columns does not count.

const TOLERANCE = 0.02;

const TOKENS =
  /\d{4}-\d\d-\d\dT[\d:.]+Z|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|\d+:\d\d\b|[\d,.]+(?:\/s| m?s\b| [kMG]B\b)|-?\d+\.\d+/gi;

type Kind = 'time' | 'uuid' | 'measured' | 'decimal';

function kindOf(token: string): Kind {
  if (/^\d{4}-\d\d-\d\dT/.test(token)) return 'time';
  if (/^[\da-f]{8}-/i.test(token)) return 'uuid';
  return /^-?\d+\.\d+$/.test(token) ? 'decimal' : 'measured';
}

/** Returns the text with a mark for each token that may differ, and the tokens. */
function split(text: string): { frame: string; tokens: string[] } {
  const tokens: string[] = [];
  const frame = text
    .replace(TOKENS, (token) => {
      tokens.push(token);
      return `<${kindOf(token)}>`;
    })
    .replaceAll(/[ \t]+/g, ' ')
    .trimEnd();
  return { frame, tokens };
}

/** Returns whether a line, or a string of JSON, is what the page shows. */
function lineMatches(expected: string, actual: string): boolean {
  const shown = split(expected);
  const printed = split(actual);
  // A text for `…` may contain further tokens, so each token of the page finds its own by its place in the pattern.
  const pattern = shown.frame
    .trim()
    .split(/(<(?:time|uuid|measured|decimal)>|…)/)
    .map((part) => (part === '…' ? '.*' : part === '<decimal>' ? '<decimal>()' : literal(part)))
    .join('');
  const found = new RegExp(`^\\s*${pattern}\\s*$`, 'ds').exec(printed.frame);
  if (found === null) return false;
  const places = [...printed.frame.matchAll(/<(?:time|uuid|measured|decimal)>/g)].map(
    ({ index, 0: mark }) => index + mark.length,
  );
  const decimals = shown.tokens.filter((token) => kindOf(token) === 'decimal');
  return decimals.every((token, at) => {
    const other = printed.tokens[places.indexOf(found.indices?.[at + 1]?.[0] ?? -1)];
    return Math.abs(Number(token) - Number(other)) <= TOLERANCE;
  });
}

const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns what is different, or undefined if the text is what the page shows. */
export function compareText(expected: string, actual: string): string | undefined {
  const shown = expected.trimEnd().split('\n');
  const printed = actual.trimEnd().split('\n');
  return linesMatch(shown, printed) ? undefined : `the page shows\n${expected}\nbut it printed\n${actual}`;
}

function linesMatch(shown: readonly string[], printed: readonly string[]): boolean {
  const [line, ...others] = shown;
  if (line === undefined) return printed.length === 0;
  if (line.trim() === '…')
    return printed.some((_, at) => linesMatch(others, printed.slice(at + 1))) || linesMatch(others, printed);
  const [first, ...rest] = printed;
  return first !== undefined && lineMatches(line, first) && linesMatch(others, rest);
}

/** Returns what is different, or undefined if the JSON is what the page shows. */
export function compareJson(expected: string, actual: string): string | undefined {
  let printed: unknown;
  try {
    printed = JSON.parse(actual);
  } catch {
    return `the page shows JSON, but it printed\n${actual}`;
  }
  const difference = differenceOf(JSON.parse(expected), printed, '');
  return difference === undefined ? undefined : `${difference}; it printed\n${actual}`;
}

function differenceOf(expected: unknown, actual: unknown, at: string): string | undefined {
  if (Array.isArray(expected) && Array.isArray(actual)) return elementsDiffer(expected, actual, at);
  if (isObject(expected) && isObject(actual)) return membersDiffer(expected, actual, at);
  const same =
    typeof expected === 'string' && typeof actual === 'string'
      ? lineMatches(expected, actual)
      : typeof expected === 'number' && typeof actual === 'number' && !Number.isInteger(expected)
        ? Math.abs(expected - actual) <= TOLERANCE
        : expected === actual;
  if (same) return undefined;
  return `${at || '/'} is ${JSON.stringify(expected)} on the page and ${JSON.stringify(actual)} here`;
}

function elementsDiffer(expected: unknown[], actual: unknown[], at: string): string | undefined {
  const open = expected.at(-1) === '…';
  const shown = open ? expected.slice(0, -1) : expected;
  if (open ? actual.length < shown.length : actual.length !== shown.length) {
    return `${at || '/'} has ${shown.length} elements on the page and ${actual.length} here`;
  }
  return first(shown.map((element, index) => differenceOf(element, actual[index], `${at}/${index}`)));
}

type Members = Record<string, unknown>;

function membersDiffer({ '…': more, ...expected }: Members, actual: Members, at: string): string | undefined {
  const unshown = Object.keys(actual).filter((name) => !Object.hasOwn(expected, name));
  if (more === undefined && unshown.length > 0) return `${at || '/'} also has ${unshown.join(', ')}`;
  return first(
    Object.entries(expected).map(([name, value]) => differenceOf(value, actual[name], `${at}/${name}`)),
  );
}

const first = (differences: (string | undefined)[]) => differences.find((found) => found !== undefined);

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
