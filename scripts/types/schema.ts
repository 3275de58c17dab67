/** The keywords of JSON Schema that the schemas of cosift use. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  not?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  minProperties?: number;
  maxProperties?: number;
  items?: Schema;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** One way to satisfy a schema: the members that it requires, and those that it excludes. */
export interface Alternative {
  /** The members that distinguish the alternative. */
  by: readonly string[];
  required: readonly string[];
  excluded: readonly string[];
}

/** The alternatives of an object whose members depend on each other; undefined if they do not. */
export function alternativesOf(schema: Schema): Alternative[] | undefined {
  const { oneOf, properties = {}, required = [], minProperties = 0 } = schema;
  const names = Object.keys(properties);
  if (schema.type !== 'object' || names.length === 0) return undefined;
  const isExclusive = (oneOf ?? []).every(
    ({ required = [], properties }) => required.length === 1 && !properties,
  );
  if (oneOf !== undefined && isExclusive) {
    const each = oneOf.map((branch) => branch.required?.[0] as string);
    // A branch with `not` names what it excludes. Without one, every branch excludes all others.
    const isNamed = oneOf.some(({ not }) => not !== undefined);
    return oneOf.map(({ not }, at) => ({
      by: [each[at] as string],
      required: [...required, each[at] as string],
      excluded: isNamed ? namedIn(not) : each.filter((name) => name !== each[at]),
    }));
  }
  if (minProperties !== 1) return undefined;
  // `if: { required: [name] }, then: { maxProperties: 1 }`: the member excludes all others.
  const alone = schema.then?.maxProperties === 1 ? (schema.if?.required ?? []) : [];
  return names.map((by) => ({
    by: [by],
    required: [...required, by],
    excluded: alone.includes(by) ? names.filter((name) => name !== by) : alone,
  }));
}

/** The members that a schema requires, or each of which satisfies it. */
function namedIn({ required = [], anyOf = [] }: Schema = {}): readonly string[] {
  return [...required, ...anyOf.flatMap(namedIn)];
}

/** The schemas that a choice by `anyOf`, `oneOf` or `if` chooses from; undefined if the schema is no choice. */
export function choicesOf(schema: Schema): readonly Schema[] | undefined {
  if (schema.anyOf !== undefined && schema.type === undefined) return schema.anyOf;
  if (schema.oneOf !== undefined && schema.properties === undefined) return schema.oneOf;
  if (schema.then?.$ref === undefined) return undefined;
  // A last `else` without a `$ref` accepts nothing. It exists only for its error message.
  const rest = schema.else ?? {};
  return [schema.then, ...(choicesOf(rest) ?? (rest.$ref === undefined ? [] : [rest]))];
}

/** The limits of a value in words, such as "From 1 to 100."; '' if there are none worth telling. */
export function limitsOf(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, maxLength, minItems, maxItems } = schema;
  const shown = (value: number) => (value === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : String(value));
  if (minimum !== undefined && maximum !== undefined) return `From ${shown(minimum)} to ${shown(maximum)}.`;
  if (exclusiveMinimum !== undefined) return `Greater than ${exclusiveMinimum}.`;
  if (maxItems !== undefined) return `${minItems ?? 0} to ${maxItems} items.`;
  if (minItems !== undefined) return `At least ${minItems} item${minItems === 1 ? '' : 's'}.`;
  // A time has a format, which tells more than its length.
  // JSON Schema counts characters. Where the service counts bytes, the description says so.
  const isTold = schema.anyOf !== undefined || schema.description?.includes('bytes of UTF-8');
  if (maxLength !== undefined && !isTold) return `At most ${maxLength} characters.`;
  return '';
}
