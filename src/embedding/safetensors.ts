import { open } from 'node:fs/promises';

export interface FloatTensor {
  shape: readonly number[];
  values: Float32Array;
}

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** Maximum length of the header, which the format sets. */
const MAX_HEADER = 100_000_000;

/** Number of bytes of a value, and its value as a double, by type. */
const TYPES: Readonly<Record<string, { bytes: number; read: (view: DataView, at: number) => number }>> = {
  F64: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { bytes: 2, read: (view, at) => halfOf(view.getUint16(at, true)) },
  BF16: { bytes: 2, read: (view, at) => bfloatOf(view.getUint16(at, true)) },
};

/**
 * Reads the tensors with these names from a safetensors file; a name that the file lacks is absent from the result.
 *
 * Source: <https://github.com/huggingface/safetensors#format>. Throws for a file that is not valid.
 */
export async function readSafetensors(
  file: string,
  names: readonly string[],
): Promise<Map<string, FloatTensor>> {
  const handle = await open(file);
  try {
    const read = async (start: number, length: number) => {
      const buffer = new Uint8Array(length);
      const { bytesRead } = await handle.read(buffer, 0, length, start);
      if (bytesRead !== length) throw new Error('the file is shorter than it says');
      return new DataView(buffer.buffer);
    };
    const headerLength = Number((await read(0, 8)).getBigUint64(0, true));
    if (headerLength > MAX_HEADER) throw new Error('it is no safetensors file');
    const header = JSON.parse(new TextDecoder().decode(await read(8, headerLength))) as Record<string, Entry>;
    const tensors = new Map<string, FloatTensor>();
    for (const name of names) {
      const entry = Object.hasOwn(header, name) ? header[name] : undefined;
      if (entry === undefined) continue;
      const { dtype, shape, data_offsets } = entry;
      const type = TYPES[dtype];
      if (type === undefined)
        throw new Error(`"${name}" has the type ${dtype}, not one of ${Object.keys(TYPES)}`);
      const count = shape.reduce((product, length) => product * length, 1);
      const [start, end] = data_offsets;
      if (end - start !== count * type.bytes)
        throw new Error(`"${name}" does not have the size of its shape`);
      const data = await read(8 + headerLength + start, end - start);
      tensors.set(name, {
        shape,
        values: Float32Array.from({ length: count }, (_, i) => type.read(data, i * type.bytes)),
      });
    }
    return tensors;
  } finally {
    await handle.close();
  }
}

/** The value of an IEEE 754 half. */
function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The value of a bfloat16, which is the upper half of a float32. */
function bfloatOf(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}
