import type { Client } from '../../client/index.js';
import type { RecordSource } from '../../databases/index.js';

const NEWLINE = 0x0a;

/** The records of a service, which goes on meanwhile. */
export function sourceOf(client: Client): RecordSource {
  return {
    describeDatabase: (id) => client.database(id).describe(),
    exportLines: (id, { vectors }, signal) =>
      wholeLines(client.database(id).exportLines({ vectors, ...(signal && { signal }) })),
  };
}

/** Chunks of complete lines, from chunks that end anywhere. */
export async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const begun: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield Buffer.concat([...begun.splice(0), chunk.subarray(0, end)]);
    if (end < chunk.length) begun.push(chunk.subarray(end));
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}
