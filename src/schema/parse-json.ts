/** Parses JSON in UTF-8. The caller knows the type of the value. */
export function parseJson<T>(json: Uint8Array): T {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8'));
}
