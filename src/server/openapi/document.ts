import { ERRORS, type ErrorCode } from '../../errors.js';
import { COMPONENTS, LIMITS, type Limits, time } from '../../schema/index.js';
import { errorsOf, type Operation, type Success } from '../operations/operation.js';
import { OPERATIONS, type OperationId } from '../operations/table.js';

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, object>; [kind: string]: object };
  [member: string]: unknown;
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: object[];
  requestBody?: object;
  responses: Record<string, OpenApiResponse>;
  security: object[];
}

export interface OpenApiResponse {
  description: string;
  content?: Record<string, object>;
  headers?: object;
}

const PATH_PARAMETERS: Record<string, object> = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'Id of the database',
    schema: { type: 'string', pattern: '^[a-z0-9_-]{1,64}$' },
    example: 'landmarks',
  },
  rid: {
    name: 'rid',
    in: 'path',
    required: true,
    description: 'Id of the record: an integer or a UUID',
    schema: {
      anyOf: [
        { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        { type: 'string', format: 'uuid' },
      ],
    },
    example: 1,
  },
  webhook_id: {
    name: 'webhook_id',
    in: 'path',
    required: true,
    description: 'Id of the webhook',
    schema: { type: 'string', pattern: '^[0-9a-z]{12}$' },
  },
  key_id: {
    name: 'key_id',
    in: 'path',
    required: true,
    description: 'Id of the key',
    schema: { type: 'string', pattern: '^[0-9a-z]{12}$' },
  },
};

/** The OpenAPI 3.1 description of every operation, from the table that the routes are made of. */
export function openApiDocument(limits: Limits = LIMITS): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const [operationId, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
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
        'Both variants serve the same records.',
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Search', description: 'By meaning, by exact criteria, or both' },
      { name: 'Records', description: 'Write, read, delete and follow' },
      { name: 'Databases', description: 'Create, describe and drop' },
      { name: 'Keys', description: 'Who may do what' },
      { name: 'Service', description: 'Health, metrics and this document' },
    ],
    paths,
    components: {
      schemas: publishedSchemas(limits),
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      headers: {
        RequestId: {
          description: 'The caller’s own `x-request-id`, or one made for it.',
          schema: { type: 'string' },
        },
        RetryAfter: { description: 'Seconds until another try.', schema: { type: 'integer', minimum: 0 } },
        ServerTiming: {
          description: 'Milliseconds in `embed`, `search` and `total`.',
          schema: { type: 'string' },
        },
      },
    },
  };
}

function describe(operationId: OperationId, operation: Operation): OpenApiOperation {
  const parameters = [
    ...[...operation.path.matchAll(/\{(\w+)\}/g)].map(
      ([, name]) => PATH_PARAMETERS[name as string] as object,
    ),
    ...(operation.query ?? []).map((parameter) => ({ ...parameter, in: 'query', required: false })),
  ];
  return {
    operationId,
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    tags: [operation.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body !== undefined && { requestBody: bodyOf(operation) }),
    responses: responsesOf(operation),
    security: operation.open ? [] : [{ key: [] }],
  };
}

function bodyOf({ body, bodyOptional, lines }: Operation): object {
  return {
    required: bodyOptional !== true,
    content: {
      'application/json': { schema: reference(body as string) },
      ...(lines !== undefined && {
        'application/x-ndjson': { schema: { type: 'string', description: `One \`${lines}\` a line.` } },
      }),
    },
  };
}

function responsesOf(operation: Operation): Record<string, OpenApiResponse> {
  const responses: Record<string, OpenApiResponse> = {};
  for (const success of operation.success) {
    const there = responses[success.status];
    const content = contentOf(success);
    responses[success.status] = {
      description: there?.description ?? success.description,
      headers: headersOf(operation, success.status),
      ...(content && { content: { ...there?.content, ...content } }),
    };
  }
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(operation)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of byStatus) {
    const there = responses[status];
    responses[status] = {
      description: [there?.description, codes.map((code) => `\`${code}\``).join(', ')]
        .filter(Boolean)
        .join('; '),
      headers: headersOf(operation, status),
      content: {
        ...there?.content,
        'application/problem+json': {
          schema: reference('Problem'),
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
        },
      },
    };
  }
  return responses;
}

function contentOf({ schema, type }: Success): Record<string, object> | undefined {
  if (type === 'application/x-ndjson') {
    return { [type]: { schema: { type: 'string', description: `One \`${schema}\` a line.` } } };
  }
  if (type !== undefined) {
    return { [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } } };
  }
  return schema && { 'application/json': { schema: reference(schema) } };
}

function headersOf({ kind }: Operation, status: number): object {
  const named = (name: string) => ({ $ref: `#/components/headers/${name}` });
  return {
    'x-request-id': named('RequestId'),
    ...((status === 429 || status === 503) && { 'retry-after': named('RetryAfter') }),
    ...(status === 200 && kind === 'searches' && { 'server-timing': named('ServerTiming') }),
  };
}

function exampleOf(code: ErrorCode): object {
  const { status, title } = ERRORS[code];
  return {
    type: `/docs#error-${code}`,
    title,
    status,
    detail: title,
    code,
    request_id: '0190a0b2-7c1e-7f2a-8a4e-0c8d4b1f2a3c',
  };
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas in force, as those who make requests from them need them. */
function publishedSchemas(limits: Limits): Record<string, object> {
  const published = JSON.parse(
    JSON.stringify(COMPONENTS, (name, value: unknown) => {
      // Only tells the validator how to speak of errors.
      if (name === 'discriminator') return undefined;
      // The validator leaves times to the engine, which says better what is wrong with one.
      if (value === time) return { ...time, anyOf: [{ format: 'date-time' }, { format: 'date' }] };
      return isChoice(value) ? { anyOf: alternatives(value) } : value;
    }),
  ) as Record<string, object> & Limited;
  published.Search.properties.text.maxLength = limits.search_text_bytes;
  published.Batch.properties.records.maxItems = limits.batch_records;
  return published;
}

/** Where the schemas tell of limits that may be configured. */
interface Limited {
  Search: { properties: { text: { maxLength?: number } } };
  Batch: { properties: { records: { maxItems?: number } } };
}

/** One of several schemas by what is there, so that an error speaks of the one that was meant. They exclude each other. */
interface Choice {
  then: { $ref: string };
  else: object;
}

function isChoice(value: unknown): value is Choice {
  return (value as Partial<Choice> | null)?.then?.$ref !== undefined;
}

function alternatives(schema: object): object[] {
  if (isChoice(schema)) return [schema.then, ...alternatives(schema.else)];
  // A last one without a name takes nothing: it is there for what it says of the others.
  return '$ref' in schema ? [schema] : [];
}
