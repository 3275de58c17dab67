const NEWLINE = 0x0a;

/** Chunks of complete lines, from chunks that end anywhere. Only the last line may lack its end. */
export async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const begun: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield Buffer.concat([...begun.splice(0), chunk.subarray(0, end)]);
    if (end < chunk.length) begun.push(chunk.subarray(end));
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}
