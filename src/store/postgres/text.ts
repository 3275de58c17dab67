// PostgreSQL stores no NUL in text and jsonb. Four characters are therefore stored as three characters each. The code
// keeps equality, the order of code points, and where a text contains, begins or ends with another: the first character
// of a code occurs nowhere else in a stored text, so a stored text is found only where the text itself is. The texts of
// records are encoded by `arrays.rs` of the binding.

const CODES = ['\u0001\u0002\u0002', '\u0001\u0002\u0003', '\u0001\u0003\u0002', '\u0001\u0003\u0003'];

/** Encodes a text, to compare it with stored texts. */
export function encodeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that have codes
  return text.replace(/[\u0000-\u0003]/g, (character) => CODES[character.charCodeAt(0)] as string);
}

/** Decodes a text that {@link encodeText} encoded. */
export function decodeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes
  return text.replace(/\u0001[\u0002\u0003]{2}/g, (code) => String.fromCharCode(CODES.indexOf(code)));
}

/** Decodes the JSON of a value whose texts {@link encodeText} encoded. */
export function decodeJson(json: string): string {
  // The first character of a code is escaped in JSON.
  if (!json.includes('\\u0001')) return json;
  return JSON.stringify(
    JSON.parse(json, (_, value) => (typeof value === 'string' ? decodeText(value) : value)),
  );
}
