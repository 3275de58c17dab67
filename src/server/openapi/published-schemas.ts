import type { Limits } from '../../schema/index.js';

/** The schemas for generators of clients, with the configured limits. */
export function publishedSchemas(
  schemas: Readonly<Record<string, object>>,
  limits: Limits,
): Record<string, object> {
  const published = JSON.parse(
    JSON.stringify(schemas, (name, value: unknown) => {
      // `discriminator` only affects the error messages of the validator.
      if (name === 'discriminator') return undefined;
      if (!isChoice(value)) return value;
      return { description: value.description, anyOf: alternatives(value) };
    }),
  ) as Record<string, object> & Limited;
  published.Search.properties.text.maxLength = limits.search_text_bytes;
  published.Batch.properties.records.maxItems = limits.batch_records;
  return published;
}

/** The schema members that contain configurable limits. */
interface Limited {
  Search: { properties: { text: { maxLength?: number } } };
  Batch: { properties: { records: { maxItems?: number } } };
}

/**
 * An `if`/`then`/`else` that chooses one of several schemas by the members that are present, so that an error is about
 * the intended schema. The schemas exclude each other, so `anyOf` is equivalent.
 */
interface Choice {
  description?: string;
  then: { $ref: string };
  else: object;
}

function isChoice(value: unknown): value is Choice {
  return (value as Partial<Choice> | null)?.then?.$ref !== undefined;
}

function alternatives(schema: object): object[] {
  if (isChoice(schema)) return [schema.then, ...alternatives(schema.else)];
  // A last `else` without a `$ref` accepts nothing. It exists only for its error message.
  return '$ref' in schema ? [schema] : [];
}
