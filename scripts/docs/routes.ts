import { ERRORS } from '../../src/errors.js';
import { errorsOf, type Operation } from '../../src/server/operation.js';
import { OPERATIONS } from '../../src/server/variants/variants.js';
import { code, table } from './markdown.js';

/** The table of routes, and the tables of their query parameters. */
export function routes(): string {
  const operations = Object.entries(OPERATIONS);
  const rows = operations.map(([id, operation]) => [
    code(`${operation.method} ${operation.path}`),
    code(id),
    operation.summary,
    keyOf(operation),
    bodyOf(operation),
    operation.success
      .map(({ status, schema, type }) =>
        `${status} ${schema === undefined ? (type ?? '') : code(schema)}`.trim(),
      )
      .join(', '),
    [...new Set(errorsOf(operation).map((error) => ERRORS[error].status))].sort((a, b) => a - b).join(' '),
  ]);
  const parameters = operations.flatMap(([, { method, path, query = {} }]) =>
    Object.entries(query).map(([name, { description }]) => [
      code(`${method} ${path}`),
      code(name),
      description,
    ]),
  );
  return [
    table(['route', 'operation', 'purpose', 'action of the key', 'request', 'response', 'errors'], rows),
    '### Query parameters',
    table(['route', 'parameter', 'meaning'], parameters),
  ].join('\n\n');
}

function keyOf({ open, actions }: Operation): string {
  if (open) return 'no key needed';
  return actions === undefined ? 'any' : actions.map(code).join(' or ');
}

function bodyOf({ body, bodyOptional, lines }: Operation): string {
  const name = body && (bodyOptional ? `${code(body)}, may be absent` : code(body));
  return [name, lines && `NDJSON of ${code(lines)}`].filter(Boolean).join(', or ');
}
