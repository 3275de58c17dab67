import type { TypeOf } from './type-of.js';

const EXACT_OPERATORS = ['equals', 'not_equals'] as const;
const ORDER_OPERATORS = [
  'greater_than',
  'less_than',
  'greater_than_or_equals',
  'less_than_or_equals',
] as const;
const TEXT_OPERATORS = ['contains', 'not_contains', 'starts_with', 'ends_with'] as const;
const EMPTY_OPERATORS = ['is_empty', 'is_not_empty'] as const;

export const column = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description: 'A column name. A column that no record has is empty everywhere.',
} as const;

export const filterRule = {
  type: 'object',
  description: 'Compares one column of a record. The operator determines the type of `value`.',
  required: ['operator'],
  discriminator: { propertyName: 'operator' },
  oneOf: [
    {
      type: 'object',
      required: ['column', 'operator', 'value'],
      additionalProperties: false,
      properties: {
        column,
        operator: { type: 'string', enum: EXACT_OPERATORS },
        value: { type: ['string', 'number', 'boolean'] },
      },
    },
    {
      type: 'object',
      required: ['column', 'operator', 'value'],
      additionalProperties: false,
      properties: { column, operator: { type: 'string', enum: ORDER_OPERATORS }, value: { type: 'number' } },
    },
    {
      type: 'object',
      required: ['column', 'operator', 'value'],
      additionalProperties: false,
      properties: { column, operator: { type: 'string', enum: TEXT_OPERATORS }, value: { type: 'string' } },
    },
    {
      type: 'object',
      required: ['column', 'operator'],
      additionalProperties: false,
      properties: { column, operator: { type: 'string', enum: EMPTY_OPERATORS } },
    },
  ],
} as const;

const condition = { type: 'string', enum: ['AND', 'OR'] } as const;

/** The schema of a group. `node` names the schema of its rules, so that nested groups are of the same variant. */
function groupSchema<const Node extends string, const Required extends readonly string[]>(
  node: Node,
  required: Required,
  note: string,
) {
  return {
    type: 'object',
    description: `Rules joined by a condition. ${note}`,
    required,
    additionalProperties: false,
    properties: {
      condition: { ...condition, description: 'How the rules are joined.' },
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

/** A group or a rule, chosen by the members that are present, so that errors are about the intended schema. */
function nodeSchema<const Group extends string>(group: Group) {
  return {
    if: { type: 'object', anyOf: [{ required: ['rules'] }, { required: ['condition'] }] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: { $ref: `#/components/schemas/${group}` },
    else: { $ref: '#/components/schemas/FilterRule' },
  } as const;
}

export const filterGroupA = groupSchema(
  'FilterNodeA',
  ['condition', 'rules'],
  'Variant A: `condition` is required.',
);
export const filterNodeA = nodeSchema('FilterGroupA');
export const filterGroupB = groupSchema(
  'FilterNodeB',
  ['rules'],
  'Variant B: `condition` is `AND` when absent.',
);
export const filterNodeB = nodeSchema('FilterGroupB');

export type FilterRule = TypeOf<typeof filterRule>;
export type Operator = FilterRule['operator'];
export type Condition = 'AND' | 'OR';

/** In variant A, `condition` is required. */
export interface FilterGroup {
  condition?: Condition;
  rules: (FilterRule | FilterGroup)[];
}

declare module './type-of.js' {
  interface NamedTypes {
    FilterGroupA: FilterGroup;
    FilterGroupB: FilterGroup;
  }
}
