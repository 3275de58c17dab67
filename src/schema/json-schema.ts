// Short forms of JSON schemas. Each takes the description, which documents and generated types show.

/** The schemas of members by name. A name that ends with `?` is that of an optional member. */
export type Members = Readonly<Record<string, object>>;
type Properties<M extends Members> = {
  [Name in keyof M as Name extends `${infer Optional}?` ? Optional : Name]: M[Name];
};

/** An object with these members, and no others. `more` has further keywords. */
export function object<const M extends Members, const More extends object = object>(
  description: string | undefined,
  members: M,
  more?: More,
) {
  const required = Object.keys(members).filter((name) => !name.endsWith('?'));
  return {
    type: 'object' as const,
    ...(description !== undefined && { description }),
    ...(required.length > 0 && { required }),
    additionalProperties: false as const,
    properties: Object.fromEntries(
      Object.entries(members).map(([name, schema]) => [name.replace(/\?$/, ''), schema]),
    ) as Properties<M>,
    ...(more as More),
  };
}

/** An array. `more` has further keywords. */
export function list<const Items extends object, const More extends object = object>(
  items: Items,
  description: string,
  more?: More,
) {
  return { type: 'array' as const, ...(more as More), items, description };
}

/** The schema of a component, with a description of its own if it is given. */
export function ref(component: string, description?: string) {
  return { $ref: `#/components/schemas/${component}`, ...(description !== undefined && { description }) };
}

/** A string. */
export function text(description: string) {
  return { type: 'string' as const, description };
}

/** One of these strings. */
export function oneOf<const Values extends readonly string[]>(values: Values, description: string) {
  return { type: 'string' as const, enum: values, description };
}

/** A boolean. */
export function flag(description: string) {
  return { type: 'boolean' as const, description };
}

/** A number of things. */
export function count(description?: string) {
  return { type: 'integer' as const, minimum: 0, ...(description !== undefined && { description }) };
}

/** A time in UTC. */
export function instant(description: string) {
  return { type: 'string' as const, format: 'date-time', description };
}
