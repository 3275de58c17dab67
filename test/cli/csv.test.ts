import { expect, test } from 'vitest';
import { parseValue, recordsOfCsv } from '../../src/cli/csv.js';

test.each([
  ['', null],
  ['true', true],
  ['True', 'True'],
  ['-12.5e3', -12500],
  ['0', 0],
  ['007', '007'],
  ['+1', '+1'],
  ['1e400', '1e400'],
  ['NaN', 'NaN'],
  [' 1', ' 1'],
  ['2024-01-31', '2024-01-31'],
])('the field %j becomes %j', (text, value) => {
  expect(parseValue(text)).toBe(value);
});

test('any name is an ordinary column', async () => {
  const read = async (text: string) => {
    const records = [];
    for await (const { json } of recordsOfCsv([Buffer.from(text)] as never, () => undefined))
      records.push(json);
    return records;
  };
  expect(await read('__proto__,constructor,uuid\n1,2,\n')).toEqual([
    '{"data":{"__proto__":1,"constructor":2}}',
  ]);
  await expect(read('a,a\n1,2\n')).rejects.toThrow('names the column "a" twice');
  await expect(read('a,\n1,2\n')).rejects.toThrow('column 2');
});
