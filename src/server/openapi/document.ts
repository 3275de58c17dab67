import { DATABASE_ID, LIMITS, type Limits, shortId, textId, UUID } from '../../schema/index.js';
import { ref } from '../../schema/json-schema.js';
import type { Operation } from '../operation.js';
import { publishedSchemas } from './published-schemas.js';
import { responsesOf } from './responses.js';
import type { OpenApiDocument, OpenApiOperation } from './types.js';

const parameter = (name: string, description: string, schema: object, example?: unknown) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
  ...(example !== undefined && { example }),
});

const positiveInteger = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

const PATH_PARAMETERS = [
  parameter(
    'id',
    'Id of the database, or the name of an alias',
    { type: 'string', pattern: DATABASE_ID.source },
    'landmarks',
  ),
  parameter(
    'rid',
    'Id of the record: an integer, a UUID, or `key:` and the key of the record',
    { anyOf: [positiveInteger, textId] },
    1,
  ),
  parameter(
    'name',
    'Name of the alias, or of the sync',
    { type: 'string', pattern: DATABASE_ID.source },
    'places',
  ),
  parameter('hold', 'The hold of the sync', { type: 'string', pattern: UUID.source }),
  parameter('webhook_id', 'Id of the webhook', shortId),
  parameter('key_id', 'Id of the key', shortId),
];

const header = (description: string) => ({ description, schema: { type: 'string' } });

const IF_NONE_MATCH = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'Entity tags. If one of them is that of the response, the status is 304 and there is no body.',
  schema: { type: 'string' },
};

/** What the document describes. */
export interface HttpApi {
  /** The operations by their ids. */
  operations: Readonly<Record<string, Operation>>;
  /** The schemas that the operations name. */
  schemas: Readonly<Record<string, object>>;
  description: string;
}

export function openApiDocument(
  { operations, schemas, description }: HttpApi,
  limits: Limits = LIMITS,
): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const [operationId, operation] of Object.entries(operations)) {
    paths[operation.path] ??= {};
    const methods = paths[operation.path] as Record<string, OpenApiOperation>;
    methods[operation.method.toLowerCase()] = describe(operationId, operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'cosift',
      version: '1',
      description:
        'Exact semantic search over the records of databases, with filters, time ranges and cursors. ' +
        `${description} ` +
        'Every path that takes `GET` takes `HEAD`, and `OPTIONS` tells the methods ' +
        'of a path. Responses from 1 kB on are compressed for clients that accept `br` or `gzip`. A query parameter that ' +
        'an operation does not have is refused.',
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Search', description: 'By meaning, by exact criteria, or both' },
      { name: 'Records', description: 'Write, read, delete and follow' },
      { name: 'Databases', description: 'Create, describe and drop' },
      { name: 'Keys', description: 'Who may do what' },
      { name: 'Agents', description: 'The Model Context Protocol' },
      { name: 'Service', description: 'Health, metrics and this document' },
    ],
    paths,
    components: {
      schemas: publishedSchemas(schemas, limits),
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The same key in the header `authorization`.',
        },
      },
      headers: {
        RequestId: header('The `x-request-id` of the request, or a new id.'),
        RateLimit: header(
          'What is left of the rate limit of the key, and the seconds until it is full again.',
        ),
        RateLimitPolicy: header('The rate limit of the key.'),
        ETag: header('Changes when the response changes. `if-none-match` takes it.'),
        WwwAuthenticate: header('How to send a key.'),
        RetryAfter: {
          description: 'Seconds to wait before the next attempt.',
          schema: { type: 'integer', minimum: 0 },
        },
        ServerTiming: header('Milliseconds in `embed`, `search` and `total`.'),
      },
    },
  };
}

function describe(operationId: string, operation: Operation): OpenApiOperation {
  const parameters = [
    ...PATH_PARAMETERS.filter(({ name }) => operation.path.includes(`{${name}}`)),
    ...(operation.tagged ? [IF_NONE_MATCH] : []),
    ...Object.entries(operation.query ?? {}).map(([name, { description, schema }]) => ({
      name,
      description,
      schema,
      in: 'query',
      required: false,
    })),
  ];
  return {
    operationId,
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    tags: [operation.tag],
    ...(parameters.length > 0 && { parameters }),
    ...((operation.body ?? operation.lines) && { requestBody: bodyOf(operation) }),
    responses: responsesOf(operation),
    security: operation.open ? [] : [{ key: [] }, { bearer: [] }],
  };
}

function bodyOf({ body, bodyOptional, lines, mergePatch }: Operation): object {
  return {
    required: bodyOptional !== true,
    content: {
      ...(mergePatch && { 'application/merge-patch+json': { schema: ref(body as string) } }),
      ...(body !== undefined && { 'application/json': { schema: ref(body) } }),
      ...(lines !== undefined && {
        'application/x-ndjson': { schema: { type: 'string', description: `One \`${lines}\` per line.` } },
      }),
    },
  };
}
