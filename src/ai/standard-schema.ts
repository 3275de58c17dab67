import type { OptionCheck } from '../schema/option-checks.js';
import { optionOf } from '../schema/options.js';

interface Issue {
  readonly message: string;
}

/** A schema of a value by Standard Schema and Standard JSON Schema, both version 1, as the AI SDK takes it. */
export interface StandardSchema<Value> {
  /** What the two specifications name. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'cosift';
    readonly validate: (value: unknown) => { readonly value: Value } | { readonly issues: readonly Issue[] };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
    readonly types?: { readonly input: Value; readonly output: Value } | undefined;
  };
}

/** Returns the schema of the values that pass a check. `described` is what a language model reads about them. */
export function standardSchema<Value>(described: object, check: OptionCheck): StandardSchema<Value> {
  const jsonSchema = () => structuredClone(described) as Record<string, unknown>;
  return {
    '~standard': {
      version: 1,
      vendor: 'cosift',
      validate: (value) => {
        const problems = check(value, '');
        if (problems.length === 0) return { value: value as Value };
        const issues = problems.map(({ pointer, detail }) => {
          return { message: pointer === '' ? `the input ${detail}` : `${optionOf(pointer)} ${detail}` };
        });
        return { issues };
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}
