import { column } from './filter.js';
import { maxOf } from './limits.js';

export const valueFormat = {
  type: 'string',
  pattern: '^(0?\\.0{1,15}|\\.#|python|True|TRUE)$',
  description: 'The format of a column.',
} as const;

export const valueFormats = {
  type: 'object',
  description:
    'How an export to CSV writes the values of columns. `0.00` and `.00`: numbers with as many decimals, with or without ' +
    'a zero before the point. `.#`: numbers as JavaScript writes them, without that zero. `python`: as Python writes a ' +
    'float, `5.0` and `1e-07`. `True` and `TRUE`: booleans. A column with a value that its format would change is written ' +
    'as JavaScript writes it. An import of CSV sets the formats of its columns.',
  maxProperties: maxOf('database_columns'),
  propertyNames: { minLength: 1, maxLength: 256, pattern: column.pattern },
  additionalProperties: valueFormat,
  examples: [{ price: '0.00' }],
} as const;
