import { expect, test } from 'vitest';
import { convert, FieldTypes, parseColumnTypes } from '../../src/readers/column-types.js';

const typeOf = (...column: string[]) => {
  const types = new FieldTypes();
  for (const [at, text] of column.entries()) types.observe(text || null, at + 2);
  return types.type;
};

test.each([
  [['1', '2.5', '-3', '0', ''], 'number'],
  [['0.1', '1e+21', '1e-7', '9007199254740991'], 'number'],
  [['1.10', '2'], 'text'],
  [['12345678901234567890', '1'], 'text'],
  [['01234', '90210'], 'text'],
  [['007'], 'text'],
  [['+1'], 'text'],
  [['-0'], 'text'],
  [['.5'], 'text'],
  [['1.'], 'text'],
  [['1E5'], 'text'],
  [['0x10'], 'text'],
  [['1e400'], 'text'],
  [['NaN'], 'text'],
  [['Infinity'], 'text'],
  [[' 1'], 'text'],
  [['2024-01-31'], 'text'],
  [['true', 'false', ''], 'boolean'],
  [['true', 'True'], 'text'],
  [['true', '1'], 'text'],
  [['', ''], 'text'],
])('the column %j is of type %s', (column, type) => {
  expect(typeOf(...column)).toBe(type);
});

test('a number that is found is written exactly as the field was', () => {
  for (const text of ['1', '-2.5', '1e+21', '5e-324', '9007199254740991']) {
    expect(typeOf(text)).toBe('number');
    expect(String(convert(text, 'number'))).toBe(text);
  }
});

test.each([
  ['1.10', 1.1],
  ['01234', 1234],
  ['+1', 1],
  ['.5', 0.5],
  ['1E5', 100000],
  ['0.000', 0],
  ['100000000000000000000000', 1e23],
])('a declared number may be written otherwise: %s', (text, value) => {
  expect(convert(text, 'number')).toBe(value);
});

test.each(['12345678901234567890', '0.12345678901234567890', '1e400', '1e-400'])(
  'a declared number that a double does not hold is refused: %s',
  (text) => {
    expect(() => convert(text, 'number')).toThrow('without changing it');
  },
);

test.each(['x', '0x10', '1,5', '.', '+', 'Infinity'])('%j is no declared number', (text) => {
  expect(() => convert(text, 'number')).toThrow('is not a number');
});

test('types are declared by column, and what is misspelt is named', () => {
  expect({ ...parseColumnTypes('a=number, b=text', undefined) }).toEqual({ a: 'number', b: 'text' });
  expect({ ...parseColumnTypes('a=b=boolean', parseColumnTypes('c=number', undefined)) }).toEqual({
    'a=b': 'boolean',
    c: 'number',
  });
  expect(() => parseColumnTypes('a=numbr', undefined)).toThrow('did you mean "number"?');
  expect(() => parseColumnTypes('a', undefined)).toThrow('"a" is not COLUMN=TYPE');
});
