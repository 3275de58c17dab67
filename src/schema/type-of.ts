/** The TypeScript type of a JSON schema that is written `as const`. It supports the keywords that are used here. */
export type TypeOf<S> = S extends { $ref: `#/components/schemas/${infer Name}` }
  ? Name extends keyof NamedTypes
    ? NamedTypes[Name]
    : unknown
  : S extends { const: infer Value }
    ? Value
    : S extends { enum: readonly (infer Value)[] }
      ? Value
      : S extends { type: 'object'; properties: infer Properties }
        ? ObjectOf<Properties, S extends { required: readonly (infer Key)[] } ? Key : never>
        : S extends { anyOf: readonly (infer Branch)[] } | { oneOf: readonly (infer Branch)[] }
          ? EachOf<Branch>
          : S extends { then: infer Then; else: infer Else }
            ? TypeOf<Then> | TypeOf<Else>
            : S extends { type: 'array'; items: infer Item }
              ? TypeOf<Item>[]
              : S extends { type: 'object'; additionalProperties: infer Value }
                ? Value extends object
                  ? Record<string, TypeOf<Value>>
                  : Record<string, unknown>
                : S extends { type: readonly (infer Name)[] }
                  ? ScalarOf<Name>
                  : S extends { type: infer Name }
                    ? ScalarOf<Name>
                    : unknown;

/** Types that schemas refer to by `$ref`. The module of such a schema adds its type. */
// biome-ignore lint/suspicious/noEmptyInterface: filled in by declaration merging
export interface NamedTypes {}

interface Scalars {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
  object: Record<string, unknown>;
}

type ScalarOf<Name> = Name extends keyof Scalars ? Scalars[Name] : unknown;

type EachOf<S> = S extends unknown ? TypeOf<S> : never;

type ObjectOf<Properties, Required> = Flat<
  { -readonly [Key in keyof Properties as Key extends Required ? Key : never]: TypeOf<Properties[Key]> } & {
    -readonly [Key in keyof Properties as Key extends Required ? never : Key]?: TypeOf<Properties[Key]>;
  }
>;

type Flat<T> = { [Key in keyof T]: T[Key] };
