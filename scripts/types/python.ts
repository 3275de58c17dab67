import { ERRORS, PROBLEM_CODES } from '../../src/errors.js';
import { COMPONENTS } from '../../src/schema/components.js';
import { column } from '../../src/schema/filter.js';
import { ACTIONS } from '../../src/schema/keys.js';
import { EXTENDS, FILES, NESTED } from './names.js';
import { alternativesOf, choicesOf, limitsOf, type Schema } from './schema.js';

const HEADER = 'Written by `npm run generate:types` from the schemas in src/schema. Do not edit.';
const MAX_LINE = 116;

/** Components that Python sees in another form. */
const LEFT_OUT = ['FilterRule', 'FilterNode', 'Search', 'SearchRequest', 'QueryRequest', 'MapRequest'].concat(
  [
    'Pagination',
    'RecordPatch',
    'DeleteRequest',
    'AliasRequest',
    'EmbeddingsRequest',
    'ReembeddingRequest',
    'LineFailure',
    'Problem',
  ],
);

/** Names of members that no class of Python can have. */
const KEYWORDS = ['from'];

const SCALARS: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  object: 'dict[str, Any]',
};

/** Types of members that the schema does not express, or not as a caller wants them. */
const MEMBERS: Readonly<Record<string, string>> = {
  'FilterGroup.rules[]': 'Filter',
  'KeyRequest.filter': 'Filter',
  'SearchQuery.vector': 'Vector',
  'SearchOptions.filter': 'Filter',
  'QueryOptions.filter': 'Filter',
  'MapOptions.filter': 'Filter',
  'KeyRequest.actions[]': 'Action',
  'KeyDescription.actions[]': 'Action',
  'NewRecord.id': 'int',
  'NewRecord.data': 'Mapping[str, object]',
  'NewRecord.vector': 'Vector',
  'EmbeddedPassage.vector': 'list[float]',
  'Page.results[]': 'Item',
  'LineProblem.code': 'ProblemCode',
};

/** Names of nested objects that several types share. */
const NAMES: Readonly<Record<string, string>> = {
  'SearchOptions.distinct': 'Distinct',
  'QueryOptions.distinct': 'Distinct',
  'DatabaseSettings.embed': 'Embed',
  'DatabaseDescription.embed': 'Embed',
  'DatabaseSettings.defaults': 'SearchDefaults',
  'DatabaseDescription.defaults': 'SearchDefaults',
};

/** Returns the modules of the Python client that follow from the schemas and from the errors, by path and text. */
export function generatePython(): Map<string, string> {
  const folder = 'packages/python/src/cosift';
  return new Map([
    [`${folder}/_codes.py`, codes()],
    [`${folder}/types.py`, types()],
  ]);
}

function codes(): string {
  const statuses = Object.entries(ERRORS).map(([code, { status }]) => `    "${code}": ${status},\n`);
  return `"""The codes of errors.

${HEADER}
"""

from __future__ import annotations

from typing import Literal

ErrorCode = ${literal(Object.keys(ERRORS))}

ProblemCode = ${literal(Object.keys(PROBLEM_CODES))}

# The HTTP status of each code.
STATUSES: dict[ErrorCode, int] = {
${statuses.join('')}}
`;
}

const SEARCH = (COMPONENTS.Search as Schema).properties ?? {};
const { text, vector, like } = SEARCH as Readonly<Record<string, Schema>>;
const QUERY = {
  description: 'What a search looks for: a text, a vector, or examples.',
  properties: { text, vector, like },
} as Schema;

/** The options of a call: the members of its request, and those of `search` and `pagination` beside them. */
function optionsOf(request: 'SearchRequest' | 'QueryRequest' | 'MapRequest', description: string): Schema {
  const { search, pagination, ...members } = (COMPONENTS[request] as Schema).properties ?? {};
  const { text, vector, like, ...scores } = SEARCH;
  const page = (COMPONENTS.Pagination as Schema).properties;
  return { description, properties: { ...(search && scores), ...members, ...(pagination && page) } };
}

function types(): string {
  const declarations = new PythonTypes();
  for (const [file, names] of Object.entries(FILES)) {
    for (const [component, signature] of Object.entries(names)) {
      if (LEFT_OUT.includes(component)) continue;
      const name = signature.replace(/<.*/, '');
      declarations.add(
        name,
        COMPONENTS[component as keyof typeof COMPONENTS] as Schema,
        file !== 'responses',
      );
    }
  }
  declarations.add('SearchQuery', QUERY, true);
  declarations.add('SearchOptions', optionsOf('SearchRequest', 'The options of a search.'), true);
  declarations.add('QueryOptions', optionsOf('QueryRequest', 'The options of a query.'), true);
  declarations.add('MapOptions', optionsOf('MapRequest', 'The options of a map.'), true);
  return `"""The types of requests and responses. Records and filters are dictionaries with these members.

${HEADER}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, Union

from typing_extensions import NotRequired, TypedDict, TypeVar

from ._codes import ProblemCode

Item = TypeVar("Item")

# A NumPy array is a vector, too.
Vector = Union[Sequence[float], Any]

Action = ${literal(ACTIONS)}


class Boost(TypedDict):
    """A part of the relevance score that depends on the data or the times of the record.

    It has a \`filter\`, or a \`target\` and a \`scale\` with a \`column\` or a \`time\`.
    """

    weight: float
    """Weight of the boost in the relevance score, from 0 to 1. The weights of a search are at most 1 together."""
    filter: NotRequired[Filter]
    """The boost is 1 where the filter passes, otherwise 0."""
    column: NotRequired[str]
    """The column of the value: a number, or with a \`target\` that is a text a string that is a date or a time."""
    time: NotRequired[Literal["created_at", "changed_at", "synced_at"]]
    """The time of the record that is the value."""
    target: NotRequired[Union[float, str]]
    """The boost is max(0, 1 - |value - target| / scale); 0 for a record without a value."""
    scale: NotRequired[Union[float, str]]
    """A number; for times an ISO 8601 duration such as \`P30D\`, or milliseconds."""


class Problem(TypedDict):
    """One problem of a request."""

    pointer: str
    """JSON pointer into the arguments, such as \`/filter/rules/1/operator\`; '' is an argument as a whole."""
    detail: str
    """What is wrong, for people."""
    code: ProblemCode
    """What is wrong, for programs."""
    changed_at: NotRequired[str]
    """\`precondition_failed\`: when the stored record was last changed; absent if there is none."""


${filterRule()}

${declarations.text}

# A rule, or a group of rules.
Filter = Union[FilterRule, FilterGroup]

# An event of a stream of lines: a problem of a line, the progress after a commit, or the summary at the end.
LineEvent = Union[LineProblem, LineProgress, LineSummary]


# A text, or a dict with the other ways to search.
Query = Union[str, SearchQuery]


class BatchSearch(SearchOptions):
    """A search of a batch."""

    search: Query
    """What the search looks for."""


class SearchResult(StoredRecord):
    """A record that a search found."""

    relevance_score: float
    """Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning."""
`;
}

/** One type for all rules: the operator decides what the value may be. */
function filterRule(): string {
  const rules = ((COMPONENTS.FilterRule as Schema).oneOf ?? []).map(
    ({ properties = {} }) => properties.operator,
  );
  const operators = rules.flatMap((operator) => operator?.enum ?? []).map(String);
  const told = rules.map((operator) => `- \`${operator?.enum?.[0]}\`: ${operator?.description}`);
  return `class FilterRule(TypedDict):
    """Compares one column of a record. The operator determines the type of \`value\`.

${told.flatMap((line) => wrapped(line, '    ', '  ')).join('\n')}
    """

    column: str
    """Name of a column. A column that no record has is empty everywhere."""
    operator: ${literal(operators)}
    value: NotRequired[Union[str, float, bool, Sequence[Union[str, float, bool]]]]
    """The value to compare with: none for \`is_empty\` and \`is_not_empty\`, a list for \`in\` and \`not_in\`."""

`;
}

/** Declarations in Python: a `TypedDict` for each object. */
class PythonTypes {
  readonly #texts = new Map<string, string>();
  #isRequest = true;

  get text(): string {
    return [...this.#texts.values()].join('\n\n');
  }

  add(name: string, schema: Schema, isRequest: boolean): void {
    this.#isRequest = isRequest;
    const choices = alternativesOf(schema) === undefined ? choicesOf(schema) : undefined;
    if (choices === undefined) this.#addClass(name, schema);
    else
      this.#addAlias(
        name,
        schema,
        `Union[${choices.map((choice) => this.#typeOf(choice, name)).join(', ')}]`,
      );
  }

  #addAlias(name: string, schema: Schema, type: string): void {
    this.#texts.set(name, `${wrapped(descriptionOf(schema), '# ', '').join('\n')}\n${name} = ${type}\n`);
  }

  #addClass(name: string, schema: Schema): void {
    const { properties = {}, required = [], additionalProperties } = schema;
    if (Object.keys(properties).length === 0 && typeof additionalProperties === 'object') {
      this.#addAlias(name, schema, `dict[str, ${this.#typeOf(additionalProperties, `${name}.*`)}]`);
      return;
    }
    const base = EXTENDS[name];
    const inherited = base === undefined ? {} : (COMPONENTS as Record<string, Schema>)[base]?.properties;
    const always = alternativesOf(schema) === undefined ? required : [];
    const isMapping = KEYWORDS.some((keyword) => keyword in properties);
    const lines = Object.entries(properties).flatMap(([member, value]) => {
      // Only the results of a search have a score: they have a type of their own.
      if (member in (inherited ?? {}) || (name === 'StoredRecord' && member === 'relevance_score')) return [];
      const type = this.#typeOf(value, `${name}.${member}`);
      // A caller may pass on an option that it was not given.
      const optional = name.endsWith('Options') ? `Union[${type}, None]` : type;
      const given = always.includes(member) ? type : `NotRequired[${optional}]`;
      return isMapping
        ? [...wrapped(descriptionOf(value), '        # ', ''), `        "${member}": ${given},`]
        : [`    ${member}: ${given}`, ...docOf(value, '    ')];
    });
    const parents = base ?? (name === 'Page' ? 'TypedDict, Generic[Item]' : 'TypedDict');
    const text = isMapping
      ? [`${name} = TypedDict(`, `    "${name}",`, '    {', ...lines, '    },', ')']
      : [`class ${name}(${parents}):`, ...docOf(schema, '    '), '', ...lines];
    this.#texts.set(name, `${text.join('\n')}\n`);
  }

  #typeOf(schema: Schema, path: string): string {
    const given = MEMBERS[path];
    if (given !== undefined) return given;
    if (schema.$ref !== undefined) return this.#reference(schema.$ref, path);
    if (schema.const !== undefined) return literal([String(schema.const)]);
    if (schema.enum !== undefined) return literal(schema.enum.map(String));
    if (schema.pattern === column.pattern) return 'str';
    const choices = choicesOf(schema);
    if (choices !== undefined) return union(choices.map((choice) => this.#typeOf(choice, path)));
    const [type, orNull] = [schema.type].flat();
    if (type === 'array' && orNull === 'null')
      return union([this.#typeOf({ ...schema, type }, path), 'None']);
    if (type === 'array') {
      const item = this.#typeOf(schema.items as Schema, `${path}[]`);
      return `${this.#isRequest ? 'Sequence' : 'list'}[${item}]`;
    }
    const types = [schema.type ?? []].flat().map((name) => SCALARS[name] ?? name);
    const object = this.#objectOf(schema, path);
    return union(object === undefined ? types : types.map((type) => (type === 'None' ? type : object)));
  }

  /** The type of an object with members, or with members of the same kind; undefined for any other value. */
  #objectOf(schema: Schema, path: string): string | undefined {
    if (typeof schema.additionalProperties === 'object') {
      return `dict[str, ${this.#typeOf(schema.additionalProperties, `${path}.*`)}]`;
    }
    return schema.properties && this.#nested(schema, path);
  }

  #reference($ref: string, path: string): string {
    const component = $ref.split('/').at(-1) as string;
    if (component === 'Data' || component === 'NewData') return 'dict[str, Any]';
    if (component === 'FilterNode') return 'Filter';
    if (component === 'Boost') return component;
    const signature = Object.values(FILES)
      .map((names) => names[component])
      .find((name) => name !== undefined);
    if (signature === undefined) throw new Error(`${path} refers to ${component}, which is not public`);
    return signature.replace(/<.*/, '');
  }

  /** The name of a nested object: `ValuesCounts.values[]` is `ValuesCountsValues`. */
  #nested(schema: Schema, path: string): string {
    const name =
      NAMES[path] ??
      NESTED[path] ??
      path.replaceAll(/(^|[._])([a-z])|\W/g, (_, _before, letter = '') => letter.toUpperCase());
    if (!this.#texts.has(name)) this.#addClass(name, schema);
    return name;
  }
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)];
  return different.length === 1 ? (different[0] as string) : `Union[${different.join(', ')}]`;
}

function literal(values: readonly string[]): string {
  const one = `Literal[${values.map((value) => `"${value}"`).join(', ')}]`;
  if (one.length < 90) return one;
  return `Literal[\n${values.map((value) => `    "${value}",\n`).join('')}]`;
}

function descriptionOf(schema: Schema): string {
  const { $ref } = schema;
  const description =
    schema.description ??
    ($ref && (COMPONENTS as Record<string, Schema>)[$ref.split('/').at(-1) as string]?.description);
  return [description, limitsOf(schema)].filter((part) => part).join(' ');
}

function docOf(schema: Schema, indent: string): string[] {
  const text = descriptionOf(schema);
  if (text === '') return [];
  if (indent.length + text.length + 6 <= MAX_LINE) return [`${indent}"""${text}"""`];
  return wrapped(`"""${text}"""`, indent, '');
}

/** The text in lines, of which each begins with `indent`, and all but the first also with `further`. */
function wrapped(text: string, indent: string, further: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(indent + word);
    else if (line.length + word.length >= MAX_LINE) lines.push(indent + further + word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
