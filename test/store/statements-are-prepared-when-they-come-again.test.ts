import { expect, test } from 'vitest';
import { StatementNames } from '../../src/store/postgres/statement-names.js';

test('a statement gets its name the second time, and keeps it', () => {
  const names = new StatementNames();
  expect(names.of('SELECT 1')).toBeUndefined();
  const name = names.of('SELECT 1');
  expect(name).toBeDefined();
  expect(names.of('SELECT 2')).toBeUndefined();
  expect(names.of('SELECT 2')).not.toBe(name);
  expect(names.of('SELECT 1')).toBe(name);
});

test('other names after a migration', () => {
  const names = new StatementNames();
  names.of('SELECT 1');
  const name = names.of('SELECT 1');
  names.renew();
  expect(names.of('SELECT 1')).toBeUndefined();
  expect(names.of('SELECT 1')).not.toBe(name);
});

test('a connection never has more than 200, and long texts are not prepared', () => {
  const names = new StatementNames();
  const given = new Set<string>();
  for (let at = 0; at < 5_000; at++) {
    for (let time = 0; time < 2; time++) {
      const name = names.of(`SELECT ${at}`);
      if (name !== undefined) given.add(name);
    }
  }
  expect(given.size).toBe(200);
  const long = `SELECT '${'x'.repeat(5_000)}'`;
  const others = new StatementNames();
  for (let time = 0; time < 3; time++) expect(others.of(long)).toBeUndefined();
});
