import { isErrorCode } from '../errors.js';

/** What a value has to be: a type, a list of such values, or an object with these members among others. */
export type Shape = 'string' | 'number' | 'boolean' | readonly [Shape] | { readonly [member: string]: Shape };

/** Whether `value` has a shape. Members that a later release adds are allowed. */
export function fits(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'string') return typeof value === shape;
  if (isList(shape)) return Array.isArray(value) && value.every((item) => fits(item, shape[0]));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = new Map(Object.entries(value));
  return Object.entries(shape).every(([name, of]) => fits(members.get(name), of));
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

/** The responses that commands read, as far as they read them. */
export const SHAPES = {
  page: {
    results: [{ data: {}, id: 'number', relevance_score: 'number' }],
    pagination: { has_more: 'boolean' },
  },
  batch: { results: [{ id: 'number' }] },
  keys: { keys: [{ key_id: 'string', name: 'string', actions: ['string'] }] },
  issuedKey: { key_id: 'string', key: 'string' },
  reembedding: { state: 'string', done: 'number', records: 'number' },
  database: { records: 'number' },
} as const satisfies Record<string, Shape>;

const EVENTS: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ['problem', { line: 'number', pointer: 'string', detail: 'string' }],
  ['progress', { lines: 'number', committed: 'number' }],
  [
    'summary',
    { created: 'number', changed: 'number', unchanged: 'number', failed: 'number', truncated: 'number' },
  ],
  ['error', { code: 'string', detail: 'string' }],
]);

/** Whether `value` is a line of the response to a stream of records. */
export function isEvent(value: unknown): boolean {
  const shape = EVENTS.get((value as { type?: unknown } | null)?.type);
  return shape !== undefined && fits(value, shape);
}

/** Whether `value` describes a failure. */
export function isProblem(value: unknown): boolean {
  if (!fits(value, { code: 'string', detail: 'string' })) return false;
  const { code, errors = [] } = value as { code: string; errors?: unknown };
  return isErrorCode(code) && fits(errors, [{ pointer: 'string', detail: 'string' }]);
}

/** Splits bytes into lines. Throws for one that is longer than `maxBytes`. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a, start)) {
      yield rest.toString('utf8', start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > maxBytes) throw new Error(`a line has more than ${maxBytes} bytes`);
  }
  if (rest.length > 0) yield rest.toString('utf8');
}

/** The whole of a body as text. Throws for one that is longer than `maxBytes`. */
export async function textOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}
