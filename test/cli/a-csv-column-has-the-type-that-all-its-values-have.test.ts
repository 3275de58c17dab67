import { expect, test } from 'vitest';
import { convert, FieldTypes, parseColumnTypes } from '../../src/readers/column-types.js';
import { valueText } from '../../src/readers/value-text.js';

const typesOf = (...column: string[]) => {
  const types = new FieldTypes();
  for (const [at, text] of column.entries()) types.observe(text || null, at + 2);
  return types;
};

test.each([
  [['1', '2.5', '-3', '0', ''], 'number', undefined],
  [['0.1', '1e+21', '1e-7', '9007199254740991'], 'number', undefined],
  [['1.25', '2.75'], 'number', undefined],
  [['749.10', '5.00', '-0.25', '1000000.00'], 'number', '0.00'],
  [['1.10', '1.20'], 'number', '0.00'],
  [['5.0', '1.1', '-0.25', '1e+16', '1e-07', '1.5e-05'], 'number', 'python'],
  [['5.0', '6.0'], 'number', 'python'],
  [['.097', '.120', '-.500', '12.000'], 'number', '.000'],
  [['.097', '.12', '3', '-.5'], 'number', '.#'],
  [['0.000'], 'number', '0.000'],
  [['1.10', '1.9'], 'text', undefined],
  [['1.9', '1.10'], 'text', undefined],
  [['749.10', '5'], 'text', undefined],
  [['749.10', '1,234.50'], 'text', undefined],
  [['0.50', '.50'], 'text', undefined],
  [['12345678901234567890', '1'], 'text', undefined],
  [['12345678901234567890.00'], 'text', undefined],
  [['0.1000000000000000055'], 'text', undefined],
  [['01234', '90210'], 'text', undefined],
  [['01.50'], 'text', undefined],
  [['007'], 'text', undefined],
  [['+1'], 'text', undefined],
  [['-0'], 'text', undefined],
  [['-0.0'], 'text', undefined],
  [['-0.00'], 'text', undefined],
  [['1.'], 'text', undefined],
  [['1E5'], 'text', undefined],
  [['0x10'], 'text', undefined],
  [['1e400'], 'text', undefined],
  [['NaN'], 'text', undefined],
  [['Infinity'], 'text', undefined],
  [[' 1'], 'text', undefined],
  [['2024-01-31'], 'text', undefined],
  [['true', 'false', ''], 'boolean', undefined],
  [['True', 'False'], 'boolean', 'True'],
  [['FALSE', 'TRUE'], 'boolean', 'TRUE'],
  [['true', 'True'], 'text', undefined],
  [['true', '1'], 'text', undefined],
  [['', ''], 'text', undefined],
])('the column %j is of type %s in the format %s', (column, type, format) => {
  const types = typesOf(...column);
  expect(types.type).toBe(type);
  if (type === 'text') return;
  expect(types.formats[0]).toBe(format);
  // Every format that is found writes the values exactly as the file does.
  for (const text of column.filter(Boolean)) {
    const value = convert(text, types.type) as number | boolean;
    for (const found of types.formats) expect(valueText(value, found)).toBe(text);
  }
});

test('every double is written as Python prints it', () => {
  const texts: [number, string][] = [
    [0, '0.0'],
    [1e15, '1000000000000000.0'],
    [9007199254740992, '9007199254740992.0'],
    [1e16, '1e+16'],
    [1.2345678901234568e16, '1.2345678901234568e+16'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-1.5e-7, '-1.5e-07'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
  ];
  for (const [value, text] of texts) expect(valueText(value, 'python')).toBe(text);
});

test('a value that a format would change has no text in it', () => {
  expect(valueText(3.125, '0.00')).toBeUndefined();
  expect(valueText(-0.001, '0.00')).toBeUndefined();
  expect(valueText(1e21, '0.00')).toBeUndefined();
  expect(valueText(3.5, '0.00')).toBe('3.50');
  expect(valueText(true, '0.00')).toBe('true');
  expect(valueText('3', '0.00')).toBe('3');
});

test('the value that makes a column text is named, and the one that it differs from', () => {
  const [nine, ten] = [
    { text: '1.9', line: 2 },
    { text: '1.10', line: 4 },
  ];
  expect(typesOf('1.9', '2.5', '1.10', '1.200').hint).toMatchObject({
    form: ten,
    first: nine,
    isInexact: false,
  });
  expect(typesOf('007', '008').hint).toMatchObject({ form: { text: '007', line: 2 }, first: undefined });
  expect(typesOf('1', '12345678901234567890').hint).toMatchObject({ isInexact: true, form: { line: 3 } });
  expect(typesOf('1', 'x', '1.10').hint).toBeUndefined();
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
