import { fromJsonSchema } from '@modelcontextprotocol/server';
import { CosiftError } from '../errors.js';
import { checkerOf } from '../schema/check.js';
import type { Schema } from './tool.js';

/**
 * Returns for each of these schemas the form in which the SDK takes it. A value that does not match is refused with the
 * details that the service gives.
 */
export function checkedSchemas<Name extends string>(schemas: Readonly<Record<Name, Schema>>) {
  const check = checkerOf(schemas);
  const checked = Object.entries<Schema>(schemas).map(([name, schema]) => [
    name,
    fromJsonSchema<Record<string, unknown>>(schema, {
      getValidator: () => (value) => {
        try {
          check(name as Name, value);
        } catch (error) {
          if (!(error instanceof CosiftError)) throw error;
          return { valid: false, data: undefined, errorMessage: textOf(error) };
        }
        return { valid: true, data: value as never, errorMessage: undefined };
      },
    }),
  ]);
  return Object.fromEntries(checked) as Record<
    Name,
    ReturnType<typeof fromJsonSchema<Record<string, unknown>>>
  >;
}

function textOf({ problems }: CosiftError): string {
  return problems
    .map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer.slice(1)}: ${detail}`))
    .join('; ');
}
