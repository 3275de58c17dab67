import { isErrorCode } from '../errors.js';

/** What a value has to be: a type, a list of such values, an object with at least these members, or what passes a test. */
export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  | readonly [Shape]
  | { readonly [member: string]: Shape }
  | ((value: unknown) => boolean);

/** Returns whether `value` has a shape. Members that a later release adds are allowed. */
export function hasShape(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'string') return typeof value === shape;
  if (typeof shape === 'function') return shape(value);
  if (isList(shape)) return Array.isArray(value) && value.every((item) => hasShape(item, shape[0]));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const memberOf = (name: string) => Object.getOwnPropertyDescriptor(value, name)?.value;
  return Object.entries(shape).every(([name, of]) => hasShape(memberOf(name), of));
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

const key = { key_id: 'string', name: 'string', actions: ['string'] } as const;
const database = { id: 'string', records: 'number' } as const;
const alias = { name: 'string', database: 'string' } as const;
const record = { id: 'number', uuid: 'string', data: {} } as const;
const pagination = { has_more: 'boolean' } as const;
const search = { results: [{ ...record, relevance_score: 'number' }], pagination } as const;
const webhook = { webhook_id: 'string', position: 'number' } as const;

/** The members of responses that callers rely on. A proxy or another server may send anything. */
export const SHAPES = {
  database,
  databases: { databases: [database] },
  alias,
  aliases: { aliases: [alias] },
  batch: {
    results: [{ id: 'number' }],
    created: 'number',
    changed: 'number',
    unchanged: 'number',
    started_at: 'string',
  },
  record,
  search,
  searches: {
    pages: [
      (value) =>
        hasShape(value, { page: search }) || isProblem((value as { problem?: unknown } | null)?.problem),
    ],
    failed: 'number',
  },
  query: { results: [record], pagination },
  map: { points: [{ id: 'number', x: 'number', y: 'number', data: {} }] },
  deletion: { deleted: 'number' },
  changes: {
    changes: [{ position: 'number', kind: 'string', id: 'number' }],
    position: 'number',
    has_more: 'boolean',
    epoch: 'string',
  },
  embeddings: { data: [{ embedding: 'string' }] },
  check: { check: 'string', status: 'string', detail: 'string' },
  reembedding: { state: 'string', done: 'number', records: 'number' },
  key: { key_id: 'string', key: 'string' },
  keys: { keys: [key] },
  ownKey: { ...key, databases: (value) => value === '*' || hasShape(value, ['string']) },
  createdWebhook: { ...webhook, secret: 'string' },
  webhooks: { webhooks: [webhook] },
} as const satisfies Record<string, Shape>;

const EVENTS: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ['problem', { line: 'number', pointer: 'string', detail: 'string' }],
  ['progress', { lines: 'number', committed: 'number' }],
  [
    'summary',
    {
      created: 'number',
      changed: 'number',
      unchanged: 'number',
      failed: 'number',
      started_at: 'string',
    },
  ],
  ['error', { code: 'string', detail: 'string' }],
]);

/** Returns whether `value` is a line of the response to a stream of records. */
export function isEvent(value: unknown): boolean {
  const shape = EVENTS.get((value as { type?: unknown } | null)?.type);
  return shape !== undefined && hasShape(value, shape);
}

/** Returns whether `value` is a problem body with a known code. */
export function isProblem(value: unknown): boolean {
  if (!hasShape(value, { code: 'string', detail: 'string' })) return false;
  const { code, errors = [] } = value as { code: string; errors?: unknown };
  return isErrorCode(code) && hasShape(errors, [{ pointer: 'string', detail: 'string' }]);
}
