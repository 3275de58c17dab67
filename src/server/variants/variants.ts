import type { FastifyRequest } from 'fastify';
import type { RecordForm } from '../../databases/index.js';
import type { ComponentName } from '../../schema/index.js';
import { JSON_TYPE } from '../http/send-json.js';
import type { HttpApi } from '../openapi/document.js';
import type { Success } from '../operation.js';
import { RESOURCES } from '../resources/index.js';
import type { Declared, Representation, Served } from '../resources/resource.js';
import { checkServiceSchema, SERVICE_COMPONENTS, type ServiceComponent } from './schemas.js';

/** The media type of records with both ids and one set of names, which the client asks for. */
const RECORD_TYPE = 'application/vnd.cosift+json';

const VARIANTS = [
  {
    name: 'A',
    form: 'uuid',
    path: '/v1/databases/{id}/records',
    description: 'Ids are UUIDs; `filter.condition` is required; `time_range` applies to `synced_at`.',
  },
  {
    name: 'B',
    form: 'integer',
    path: '/v1/databases/{id}',
    description:
      'Ids are integers; `filter.condition` is `AND` when absent; `time_range` applies to `last_seen_time`.',
  },
] as const;

const SHOWN_BY_ID =
  'A UUID or a key gets a record of variant A, an integer a record of variant B. ' +
  `With \`accept: ${RECORD_TYPE}\` it has both ids.`;

/** Every operation of the HTTP API, in the order of the OpenAPI document. */
export const OPERATIONS: Readonly<Record<string, Served<ServiceComponent>>> = Object.fromEntries(
  Object.entries(RESOURCES).flatMap(([id, operation]) => inVariants(id, operation)),
);

export const HTTP_API: HttpApi = {
  operations: OPERATIONS,
  schemas: SERVICE_COMPONENTS,
  description: 'Both variants serve the same records.',
};

/** The form of a record that was asked for by this id: an integer, a UUID, or a key. */
export function formOfId(id: number | string): RecordForm {
  return /^\d+$/.test(String(id)) ? 'integer' : 'uuid';
}

/** Returns an operation with its id, and once for each variant if the variants have schemas of their own for its body. */
function inVariants(id: string, operation: Declared): [string, Served<ServiceComponent>][] {
  const { path, summary, description = '', body, success } = operation;
  if (schemaOf(body, 'A') !== undefined) {
    return VARIANTS.map((variant) => {
      const own = {
        ...operation,
        path: path.replace('/v1/databases/{id}', variant.path),
        summary: `${summary} (variant ${variant.name})`,
        description: `${description} ${variant.description}`.trim(),
      };
      return [`${id}${variant.name}`, negotiated(own, variant.name, () => variant.form)];
    });
  }
  if (success.some(({ schema }) => schema === 'Record')) {
    const own = { ...operation, description: `${description} ${SHOWN_BY_ID}`.trim() };
    return [[id, negotiated(own, 'AOrB', ({ params }) => formOfId((params as { rid: string }).rid))]];
  }
  return [[id, negotiated(operation, '', () => 'both')]];
}

/**
 * Returns an operation whose records have the form of the request, or both ids if the caller accepts their type. The
 * schemas with one id have names with the suffix. No cache stores the response.
 */
function negotiated(
  operation: Declared,
  suffix: 'A' | 'B' | 'AOrB' | '',
  formOf: (request: FastifyRequest) => RecordForm,
): Served<ServiceComponent> {
  const body = schemaOf(operation.body, suffix) ?? operation.body;
  const checkBoth: Representation['check'] = (value, schema = operation.body as ComponentName) =>
    checkServiceSchema(schema, value);
  const check: Representation['check'] = (value, schema = operation.body as ComponentName) =>
    checkServiceSchema(schemaOf(schema, suffix) ?? schema, value);
  const success = operation.success.flatMap<Success<ServiceComponent>>((shown) => {
    const schema = suffix === '' ? undefined : schemaOf(shown.schema, suffix);
    return schema === undefined
      ? [shown]
      : [
          { ...shown, schema },
          { ...shown, type: RECORD_TYPE },
        ];
  });
  return {
    ...operation,
    ...(body !== undefined && { body }),
    success,
    handler: (dependencies) => {
      const handle = operation.handler(dependencies);
      return (request, reply) =>
        request.headers.accept?.includes(RECORD_TYPE)
          ? handle(request, reply, { form: 'both', type: RECORD_TYPE, check: checkBoth })
          : handle(request, reply, { form: formOf(request), type: JSON_TYPE, check });
    },
  };
}

/** The schema of one id for a schema with both. */
function schemaOf(name: string | undefined, suffix: string): ServiceComponent | undefined {
  const own = `${name}${suffix}`;
  return own in SERVICE_COMPONENTS ? (own as ServiceComponent) : undefined;
}
