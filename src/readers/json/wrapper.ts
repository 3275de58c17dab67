/** A list of objects inside of the object that is the whole text. */
interface WrappedList {
  /** The names of the members that lead to the list. */
  path: string[];
  /** Whether the object ends within the text. */
  isClosed: boolean;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]/gs;
/** The share of the text that the list has. An object that is a record has other values. */
const MIN_SHARE = 1 / 3;
const IDENTIFIER = /^[A-Za-z_]\w*$/;

/**
 * Finds the list of objects that makes up a large part of a text, when the text is the beginning of one JSON object: such a file
 * has its rows in that list, as responses of APIs have them.
 */
export function wrappedList(text: string): WrappedList | undefined {
  const open: { bracket: string; name: string | undefined; start: number }[] = [];
  let name: string | undefined;
  let isClosed = false;
  let best: { path: string[]; length: number } | undefined;
  const consider = (end: number) => {
    const list = open.at(-1);
    const isList = list?.bracket === '[' && open.slice(0, -1).every(({ bracket }) => bracket === '{');
    const length = end - (list?.start ?? 0);
    if (
      !isList ||
      length <= (best?.length ?? 0) ||
      !/^\[\s*\{/.test(text.slice(list.start, list.start + 100))
    )
      return;
    best = { path: open.flatMap((frame) => frame.name ?? []), length };
  };
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (isClosed) return undefined;
    if (token.startsWith('"')) {
      const isName =
        open.at(-1)?.bracket === '{' &&
        /^\s*:/.test(text.slice(index + token.length, index + token.length + 100));
      if (isName) name = JSON.parse(token) as string;
    } else if (token === '{' || token === '[') {
      open.push({ bracket: token, name: open.at(-1)?.bracket === '{' ? name : undefined, start: index });
    } else {
      consider(index);
      open.pop();
      isClosed = open.length === 0;
    }
  }
  // The text may end within the list.
  while (open.length > 0) {
    consider(text.length);
    open.pop();
  }
  if (best === undefined || best.path.length === 0 || best.length < text.trim().length * MIN_SHARE)
    return undefined;
  return { path: best.path, isClosed };
}

/**
 * @param text the beginning of a file in JSON; `isWhole`: all of it.
 * @throws {Error} when the file is one object that has its rows in a list.
 */
export function refuseWrapper(text: string, isWhole: boolean): void {
  const list = text.trimStart().startsWith('{') ? wrappedList(text) : undefined;
  if (list === undefined || (list.isClosed && !isWhole)) return;
  const isGeo = /"type"\s*:\s*"FeatureCollection"/.test(text);
  const jq = `${list.path.map((name) => (IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`)).join('')}[]`;
  const path = jq.startsWith('.') ? jq : `.${jq}`;
  const [what, filter, also] = isGeo
    ? [
        'a GeoJSON FeatureCollection',
        `${path} | {id, geometry} + .properties`,
        ', which is imported with --flatten',
      ]
    : ['one object', path, ''];
  throw new Error(
    `the file is ${what} with its rows in "${list.path.join('.')}": ` +
      `write them to a file of their own by jq -c '${filter}' FILE > rows.ndjson${also}; ` +
      'if the whole file is one record, give --format json',
  );
}
