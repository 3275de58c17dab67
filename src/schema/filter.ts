import { object, oneOf } from './json-schema.js';
import { MAX_LIST_VALUES, MAX_LISTED_VALUES } from './limits.js';
import { count } from './plain.js';
import type { FilterRule } from './types/filter.js';

export const column = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description: 'Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere.',
} as const;

const scalar = { type: ['string', 'number', 'boolean'], description: 'The value to compare with.' } as const;
const number = { type: 'number', description: 'The number to compare with.' } as const;
const text = { type: 'string', description: 'The text to look for; case-sensitive.' } as const;
const list = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_LIST_VALUES,
  items: scalar,
  description: `The values to compare with. The lists of a filter have at most ${count(MAX_LISTED_VALUES)} values.`,
} as const;
const time = {
  type: 'string',
  description:
    'The time to compare with: a date, which is its midnight UTC, or a date and time with `Z` or an offset, with at ' +
    'most nine digits of a second.',
} as const;

/** The operators of rules: the schema of their value, and what they mean. */
const OPERATORS = {
  equals: {
    value: scalar,
    description:
      'The column has exactly this value, of the same type: the number 1 is not the string "1". Strings are ' +
      'case-sensitive.',
  },
  not_equals: {
    value: scalar,
    description: 'The opposite of `equals`. It also holds for a record without the column.',
  },
  greater_than: { value: number, description: 'The column has a number greater than `value`.' },
  less_than: { value: number, description: 'The column has a number less than `value`.' },
  greater_than_or_equals: {
    value: number,
    description: 'The column has a number greater than `value`, or equal to it.',
  },
  less_than_or_equals: {
    value: number,
    description: 'The column has a number less than `value`, or equal to it.',
  },
  contains: { value: text, description: 'The column has a string that contains `value`; case-sensitive.' },
  not_contains: {
    value: text,
    description:
      'The opposite of `contains`. It also holds for a record without the column, or with a value of another type.',
  },
  starts_with: {
    value: text,
    description: 'The column has a string that starts with `value`; case-sensitive.',
  },
  ends_with: { value: text, description: 'The column has a string that ends with `value`; case-sensitive.' },
  is_empty: {
    value: undefined,
    description: 'The record lacks the column, or its value is null, "" or an empty list.',
  },
  is_not_empty: { value: undefined, description: 'The opposite of `is_empty`: the column has a value.' },
  in: { value: list, description: '`equals` holds for one of the values.' },
  not_in: {
    value: list,
    description: 'The opposite of `in`. It also holds for a record without the column.',
  },
  before: { value: time, description: 'The column has a string that is an earlier time than `value`.' },
  after: { value: time, description: 'The column has a string that is a later time than `value`.' },
  on_or_before: {
    value: time,
    description: 'The column has a string that is an earlier time than `value`, or the same.',
  },
  on_or_after: {
    value: time,
    description: 'The column has a string that is a later time than `value`, or the same.',
  },
} as const;

/** The operators that compare with the values of a list. */
export const LIST_OPERATORS = operatorsOf(list);

/** The operators that compare times. */
export const TIME_OPERATORS = operatorsOf(time);

function operatorsOf(value: object): ReadonlySet<unknown> {
  return new Set(
    Object.entries(OPERATORS).flatMap(([name, operator]) => (operator.value === value ? [name] : [])),
  );
}

/** The schema of the rules with one operator. */
function ruleSchema([operator, { value, description }]: [string, { value?: object; description: string }]) {
  return object(description, {
    column,
    operator: oneOf([operator], description),
    ...(value !== undefined && { value }),
  });
}

export const filterRule = {
  type: 'object',
  description:
    'Compares one column of a record. The operator determines the type of `value`. For a list, a rule holds if it holds ' +
    'for one of its elements; a negative operator is the opposite of its positive one.',
  required: ['operator'],
  discriminator: { propertyName: 'operator' },
  oneOf: Object.entries(OPERATORS).map(ruleSchema),
} as const;

/** The schema of a group with these required members. `node` names the schema of its rules. */
export function groupSchema(node: string, required: readonly string[], note: string) {
  return {
    type: 'object',
    description: 'Rules joined by a condition.',
    required,
    additionalProperties: false,
    properties: {
      condition: {
        type: 'string',
        enum: ['AND', 'OR'],
        description: `\`AND\`: every rule has to hold. \`OR\`: at least one. ${note}`,
      },
      rules: {
        type: 'array',
        minItems: 1,
        items: { $ref: `#/components/schemas/${node}` },
        description: 'Comparisons and nested groups.',
      },
    },
    examples: [
      {
        condition: 'AND',
        rules: [
          { column: 'country', operator: 'equals', value: 'France' },
          {
            condition: 'OR',
            rules: [
              { column: 'height_m', operator: 'greater_than', value: 100 },
              { column: 'notes', operator: 'is_empty' },
            ],
          },
        ],
      },
    ],
  } as const;
}

/** Members that only a rule has. */
const OF_RULE = { anyOf: [{ required: ['column'] }, { required: ['operator'] }] } as const;

/** A group or a rule, chosen by the members that are present, so that errors are about the intended schema. */
export function nodeSchema(group: string) {
  return {
    description: 'A rule, or a group of rules.',
    if: { type: 'object', anyOf: [{ required: ['rules'] }, { required: ['condition'], not: OF_RULE }] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: { $ref: `#/components/schemas/${group}` },
    else: { $ref: '#/components/schemas/FilterRule' },
  } as const;
}

export const filterGroup = groupSchema('FilterNode', ['rules'], 'Default: `AND`.');
export const filterNode = nodeSchema('FilterGroup');

/** An operator of a rule. */
export type Operator = FilterRule['operator'];
