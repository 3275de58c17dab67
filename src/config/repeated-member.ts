/** A string, or a character that opens, closes or divides objects and arrays. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * The path of a member that an object has twice, such as `limits.filter_rules`; undefined if there is none. `json` must be
 * valid JSON. `JSON.parse` keeps the last of equal members without a word.
 */
export function repeatedMember(json: string): string | undefined {
  /** The open objects and arrays; the names of an array are never filled. */
  const open: { names: Set<string>; last: string }[] = [];
  let text = '';
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push({ names: new Set(), last: '' });
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"')) text = token;
    const innermost = open.at(-1);
    if (token !== ':' || innermost === undefined) continue;
    innermost.last = JSON.parse(text) as string;
    if (innermost.names.has(innermost.last)) return open.map(({ last }) => last).join('.');
    innermost.names.add(innermost.last);
  }
  return undefined;
}
