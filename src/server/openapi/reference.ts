/** A reference to the schema of this name in the document. */
export function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}
