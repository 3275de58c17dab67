import { COMPONENTS } from '../../src/schema/components.js';
import { column } from '../../src/schema/filter.js';
import { ALTERNATIVES, EXCLUSIVE, EXTENDS, FILES, MEMBERS, NESTED, RULES } from './names.js';
import { type Alternative, alternativesOf, choicesOf, limitsOf, type Schema } from './schema.js';

const MAX_LINE = 100;

const SCALARS: Readonly<Record<string, string>> = { integer: 'number', object: 'Record<string, unknown>' };

/** Where a type is written: the path of its schema for messages and tables, and whether `T` is in scope. */
interface Place {
  path: string;
  isGeneric: boolean;
}

/** The declarations of one file. Optional members of requests may be undefined, and their arrays are read-only. */
export class Declarations {
  readonly #isRequest: boolean;
  readonly #texts = new Map<string, string>();

  constructor(isRequest: boolean) {
    this.#isRequest = isRequest;
  }

  get names(): string[] {
    return [...this.#texts.keys()];
  }

  get text(): string {
    return [...this.#texts.values()].join('\n');
  }

  addComponent(schema: Schema, signature: string): void {
    const place = { path: nameOf(signature), isGeneric: /<T\b/.test(signature) };
    const alternatives = alternativesOf(schema);
    const choices = choicesOf(schema);
    if (place.path === 'FilterRule') {
      this.#addRules(schema, signature);
    } else if (alternatives !== undefined) {
      const union = this.#addAlternatives(schema, alternatives, place);
      this.#addType(signature, schema, union, place);
    } else if (choices !== undefined) {
      const union = choices.map((choice, at) => this.#typeOf(choice, step(place, `/${at}`))).join(' | ');
      this.#addType(signature, schema, union, place);
    } else {
      const union = choicesOf(componentOf(EXCLUSIVE[place.path]));
      const siblings = union?.map(({ $ref }) => componentOf(nameOfReference($ref as string)));
      this.#addInterface(signature, schema, place, siblings && this.#exclusive(schema, siblings));
    }
  }

  /**
   * A type for the operators that take the same values, and the union of these types, typed by the columns of `T`. Only the
   * union is exported: a declaration file of a program has the members of the others instead of their names.
   */
  #addRules(schema: Schema, signature: string): void {
    const union: string[] = ['EqualityRule<T>'];
    const all = (schema.oneOf ?? []).map(({ properties = {} }) => properties);
    for (const value of new Set(all.map(({ value }) => value))) {
      const rules = all.filter((rule) => rule.value === value);
      const operators = rules.map(({ operator }) => operator as Schema);
      const name = RULES[String(operators[0]?.enum?.[0])];
      if (name === undefined) throw new Error(`${operators[0]?.enum} have no name`);
      const isList = value?.type === 'array';
      const isEquality = isList || Array.isArray(value?.type);
      const scalars = 'string | number | boolean';
      const parameters = `Column extends string = string${isEquality ? `, Value extends ${scalars} = ${scalars}` : ''}`;
      const place = { path: name, isGeneric: false };
      const operand = isEquality ? (isList ? 'readonly Value[]' : 'Value') : this.#typeOf(value ?? {}, place);
      const members = [
        `${docOf(rules[0]?.column ?? {}, `${name}.column`)}column: Column;`,
        `/**\n${operators.map((operator) => ` * - \`${operator.enum?.[0]}\`: ${operator.description}`).join('\n')}\n */`,
        `operator: ${operators.map((operator) => this.#typeOf(operator, place)).join(' | ')};`,
        ...(value === undefined ? [] : [`${docOf(value, `${name}.value`)}value: ${operand};`]),
      ];
      this.#add(name, `type ${name}<${parameters}> = {\n${members.join('\n')}\n};\n`);
      const columns = { number: 'NumberColumn<T>', string: 'TextColumn<T>' }[String(value?.type)];
      if (!isEquality) union.push(`${name}<${columns ?? 'ColumnName<T>'}>`);
    }
    this.#addType(signature, schema, union.join(' | '), { path: 'FilterRule', isGeneric: true });
  }

  /** Returns the union of an interface for each alternative. */
  #addAlternatives(schema: Schema, alternatives: readonly Alternative[], place: Place): string {
    const union = alternatives.map((alternative) => {
      const path = `${place.path}.${alternative.by}`;
      const signature = ALTERNATIVES[path];
      if (signature === undefined) throw new Error(`${path} has no name`);
      if (!this.#texts.has(nameOf(signature))) this.#addInterface(signature, schema, place, alternative);
      return reference(signature, place);
    });
    return union.join(' | ');
  }

  #addType(signature: string, schema: Schema, type: string, { path }: Place): void {
    this.#add(nameOf(signature), `${docOf(schema, path)}export type ${signature} = ${type};\n`);
  }

  #addInterface(signature: string, schema: Schema, place: Place, alternative?: Alternative): void {
    const body = this.#membersOf(schema, place, alternative);
    const name = nameOf(signature);
    const base = EXTENDS[name] === undefined ? '' : ` extends ${EXTENDS[name]}`;
    const isNamed =
      alternative?.by.length === 1 && alternative.required.includes(alternative.by[0] as string);
    const note = isNamed ? `This alternative has \`${alternative.by}\`.` : '';
    this.#add(name, `${docOf(schema, place.path, note)}export interface ${signature}${base} {\n${body}\n}\n`);
  }

  #add(name: string, text: string): void {
    if (this.#texts.has(name)) throw new Error(`two types have the name ${name}`);
    this.#texts.set(name, text);
  }

  #membersOf(schema: Schema, place: Place, alternative?: Alternative): string {
    const { properties = {}, required = [], additionalProperties } = schema;
    const { by = [], excluded = [], required: requiredHere = required } = alternative ?? {};
    const inherited = componentOf(EXTENDS[place.path]).properties ?? {};
    const own = Object.entries(properties).filter(
      ([name]) => !excluded.includes(name) && !(name in inherited),
    );
    const lines = own.map(([name, value]) => {
      const at = step(place, `.${name}`);
      const type = this.#typeOf(value, at);
      const isOptional = !requiredHere.includes(name);
      const orUndefined = isOptional && this.#isRequest ? ' | undefined' : '';
      return `${docOf(value, at.path)}${name}${isOptional ? '?' : ''}: ${type}${orUndefined};`;
    });
    const others = by.map((name) => `\`${name}\``).join(' or ');
    const note = this.#isRequest ? `Not together with ${others}.` : 'Only the other alternatives have it.';
    for (const name of excluded) lines.push(`/** ${note} */\n${name}?: undefined;`);
    if (typeof additionalProperties === 'object') {
      const at = step(place, '.*');
      const doc =
        lines.length > 0
          ? '/** Further members of the same kind. */\n'
          : docOf(additionalProperties, at.path);
      lines.push(`${doc}[name: string]: ${this.#typeOf(additionalProperties, at)};`);
    }
    return lines.join('\n');
  }

  #typeOf(schema: Schema, place: Place): string {
    const { path, isGeneric } = place;
    const given = MEMBERS[path];
    if (given !== undefined) return given;
    if (schema.$ref !== undefined) return referenceTo(nameOfReference(schema.$ref), place);
    if (Array.isArray(schema.type) && schema.type.length === 2 && schema.type[1] === 'null') {
      return `${this.#typeOf({ ...schema, type: schema.type[0] }, place)} | null`;
    }
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (schema.pattern === column.pattern) return isGeneric ? 'ColumnName<T>' : 'string';
    const alternatives = alternativesOf(schema);
    if (alternatives !== undefined) return this.#addAlternatives(schema, alternatives, place);
    const choices = choicesOf(schema);
    if (choices !== undefined) return this.#choice(choices, place);
    if (schema.type === 'array') {
      const item = this.#typeOf(schema.items as Schema, step(place, '[]'));
      return `${this.#isRequest ? 'readonly ' : ''}${item.includes(' ') ? `(${item})` : item}[]`;
    }
    if (schema.properties !== undefined) return this.#objectType(schema, place);
    const { type = [] } = schema;
    return [type]
      .flat()
      .map((name) => SCALARS[name] ?? name)
      .join(' | ');
  }

  /** A union. An object of the union excludes the members that only the others have. */
  #choice(choices: readonly Schema[], place: Place): string {
    const types = choices.map((choice, at) => {
      if (choice.properties === undefined) return this.#typeOf(choice, place);
      const inner = step(place, `/${at}`);
      const name = NESTED[inner.path];
      if (name === undefined) throw new Error(`${inner.path} has no name`);
      this.#addInterface(name, choice, inner, this.#exclusive(choice, choices));
      return name;
    });
    return types.join(' | ');
  }

  /**
   * The alternative of a schema that excludes the members that only its siblings have; in a response, only the one that
   * tells the alternatives apart.
   */
  #exclusive({ properties = {}, required = [] }: Schema, siblings: readonly Schema[]): Alternative {
    const members = siblings.flatMap((sibling) => Object.entries(sibling.properties ?? {}));
    const apart = members.filter(([, { const: kind }]) => this.#isRequest || kind !== undefined);
    const excluded = [...new Set(apart.map(([name]) => name))].filter((name) => !(name in properties));
    return { by: Object.keys(properties), required, excluded };
  }

  #objectType(schema: Schema, place: Place): string {
    const name = NESTED[place.path];
    if (name === undefined) return `{\n${this.#membersOf(schema, place)}\n}`;
    if (!this.#texts.has(name)) this.#addInterface(name, schema, place);
    return name;
  }
}

function step({ path, isGeneric }: Place, further: string): Place {
  return { path: path + further, isGeneric };
}

function nameOf(signature: string): string {
  return signature.split('<')[0] as string;
}

function referenceTo(component: string, place: Place): string {
  if (component === 'Data' || component === 'NewData') return place.isGeneric ? 'T' : 'Data';
  const signature = Object.values(FILES)
    .map((names) => names[component])
    .find((name) => name !== undefined);
  if (signature === undefined) throw new Error(`${place.path} refers to ${component}, which is not public`);
  return reference(signature, place);
}

function reference(signature: string, { isGeneric }: Place): string {
  return isGeneric && /<T\b/.test(signature) ? `${nameOf(signature)}<T>` : nameOf(signature);
}

function componentOf(name: string | undefined): Schema {
  return (COMPONENTS as Readonly<Record<string, Schema>>)[name ?? ''] ?? {};
}

function nameOfReference($ref: string): string {
  return $ref.split('/').at(-1) as string;
}

/** The doc comment of a type or a member, with the limits of its values. */
function docOf(schema: Schema, path: string, note = ''): string {
  const { $ref } = schema;
  const description =
    schema.description ?? ($ref === undefined ? undefined : componentOf(nameOfReference($ref)).description);
  if (description === undefined) throw new Error(`${path} has no description`);
  const text = [description, limitsOf(schema), note].filter((part) => part !== '').join(' ');
  if (text.length <= MAX_LINE) return `/** ${text} */\n`;
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line.length + word.length >= MAX_LINE) lines.push(` * ${word}`);
    else lines[lines.length - 1] = line === '' ? ` * ${word}` : `${line} ${word}`;
  }
  return `/**\n${lines.join('\n')}\n */\n`;
}
