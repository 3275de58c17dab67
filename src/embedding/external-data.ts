import { open } from 'node:fs/promises';

// Numbers of the fields of <https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3>, from the model to a location.
const GRAPH = 7;
const INITIALIZER = 5;
const EXTERNAL_DATA = 13;
const KEY = 1;
const VALUE = 2;

/** A field of a message: its number, and where its bytes are. */
interface Field {
  number: number;
  start: number;
  end: number;
}

/** Bytes that are read ahead, because most fields are short. */
const CHUNK_BYTES = 1 << 15;

type Read = (start: number, length: number) => Promise<Buffer>;

/**
 * Returns the names of the files beside an ONNX file that have weights of it, sorted.
 *
 * Only the headers of the fields are read, and not the weights. Throws for a file that is no protobuf.
 */
export async function externalDataOf(file: string): Promise<string[]> {
  const handle = await open(file);
  try {
    let chunk = { start: 0, bytes: Buffer.alloc(0) };
    const read: Read = async (start, length) => {
      const holds = chunk.start <= start && start + length <= chunk.start + chunk.bytes.length;
      if (!holds) {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(length + CHUNK_BYTES), {
          position: start,
        });
        chunk = { start, bytes: buffer.subarray(0, bytesRead) };
      }
      return chunk.bytes.subarray(start - chunk.start, start - chunk.start + length);
    };
    const locations = new Set<string>();
    const { size } = await handle.stat();
    for await (const graph of fields(read, { number: 0, start: 0, end: size }, GRAPH)) {
      for await (const tensor of fields(read, graph, INITIALIZER)) {
        for await (const entry of fields(read, tensor, EXTERNAL_DATA)) {
          const [key, value] = [await textOf(read, entry, KEY), await textOf(read, entry, VALUE)];
          if (key === 'location' && value !== undefined) locations.add(value);
        }
      }
    }
    return [...locations].sort();
  } finally {
    await handle.close();
  }
}

async function textOf(read: Read, message: Field, number: number): Promise<string | undefined> {
  for await (const { start, end } of fields(read, message, number)) {
    return (await read(start, end - start)).toString('utf8');
  }
  return undefined;
}

/** Yields the fields of a message that have a number and are bytes. */
async function* fields(read: Read, message: Field, number: number): AsyncGenerator<Field> {
  for (let at = message.start; at < message.end; ) {
    // Two varints of at most ten bytes.
    const header = await read(at, 20);
    const [tag, tagBytes] = varint(header, 0);
    const type = tag % 8;
    const found = Math.floor(tag / 8);
    if (type === 2) {
      const [length, lengthBytes] = varint(header, tagBytes);
      const start = at + tagBytes + lengthBytes;
      at = start + length;
      if (at > message.end) throw new Error('it is no ONNX file');
      if (found === number) yield { number, start, end: at };
    } else if (type === 0) {
      at += tagBytes + varint(header, tagBytes)[1];
    } else if (type === 1 || type === 5) {
      at += tagBytes + (type === 1 ? 8 : 4);
    } else {
      throw new Error('it is no ONNX file');
    }
  }
}

/** The number at a position, and the number of its bytes. Exact up to 2^53, which no size of a file exceeds. */
function varint(bytes: Buffer, start: number): [value: number, bytes: number] {
  let value = 0;
  for (let i = 0; i < 10 && start + i < bytes.length; i++) {
    const byte = bytes[start + i]!;
    value += (byte % 128) * 128 ** i;
    if (byte < 128) return [value, i + 1];
  }
  throw new Error('it is no ONNX file');
}
