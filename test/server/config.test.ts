import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, resolveConfig } from '../../src/config.js';

const directory = mkdtempSync(path.join(tmpdir(), 'cosift-config-'));
afterAll(() => rmSync(directory, { recursive: true }));

const fileOf = (content: unknown) => {
  const file = path.join(directory, 'config.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};

test('a flag wins over the environment, that over the file, that over the default', () => {
  const config = fileOf({ port: 1, host: 'from-file', limits: { filter_depth: 64 } });
  const given = resolveConfig({ config, port: '3' }, { COSIFT_PORT: '2', COSIFT_LIMIT_FILTER_RULES: '10' });
  expect(given.config).toMatchObject({ port: 3, host: 'from-file', logLevel: 'info' });
  expect(given.config.limits).toMatchObject({ filter_depth: 64, filter_rules: 10, batch_records: 1000 });
  const origin = (name: string) => given.settings.find((setting) => setting.name === name)?.origin;
  expect(['port', 'host', 'log_level', 'limits.filter_depth', 'limits.filter_rules'].map(origin)).toEqual([
    'flag',
    'file',
    'default',
    'file',
    'environment',
  ]);
});

test('models come by flags, a variable or the file', () => {
  const here = (name: string) => path.resolve(name);
  const modelsOf = (flags: object, env = {}) =>
    resolveConfig(flags as Record<string, unknown>, env).config.models;
  expect(modelsOf({})).toEqual({});
  expect(modelsOf({ models: ['a=one', 'b=two=2'] })).toEqual({ a: here('one'), b: here('two=2') });
  expect(modelsOf({}, { COSIFT_MODELS: 'a=one,b=/two' })).toEqual({ a: here('one'), b: '/two' });
  expect(modelsOf({ config: fileOf({ models: { a: 'o,n=e' } }) })).toEqual({ a: here('o,n=e') });
  const { settings } = resolveConfig({ models: ['a=/one', 'b=/two'] }, {});
  expect(settings.find(({ name }) => name === 'models')?.value).toBe('a=/one,b=/two');
});

test('the admin key is never shown', () => {
  const { config, settings } = resolveConfig({}, { COSIFT_ADMIN_KEY: 'mine' });
  expect(config.adminKey).toBe('mine');
  expect(JSON.stringify(settings)).not.toContain('mine');
});

describe('what is unknown or unusable stops the start', () => {
  test.each([
    ['a variable', () => resolveConfig({}, { COSIFT_PROT: '1' }), /COSIFT_PROT.*did you mean COSIFT_PORT/],
    ['a setting', () => resolveConfig({ config: fileOf({ prot: 1 }) }, {}), /prot.*did you mean port/],
    ['a limit', () => resolveConfig({ config: fileOf({ limits: { depth: 1 } }) }, {}), /limits\.depth/],
    ['a port beyond ports', () => resolveConfig({ port: '70000' }, {}), /--port: must be a whole number/],
    ['a port with a fraction', () => resolveConfig({}, { COSIFT_PORT: '1.5' }), /COSIFT_PORT/],
    ['an empty host', () => resolveConfig({ host: '' }, {}), /--host/],
    ['a log level', () => resolveConfig({ logLevel: 'loud' }, {}), /--log-level/],
    ['an admin key that no header holds', () => resolveConfig({}, { COSIFT_ADMIN_KEY: 'a b' }), /ADMIN_KEY/],
    [
      'a model without a directory',
      () => resolveConfig({ models: ['a'] }, {}),
      /--models: must be NAME=DIREC/,
    ],
    ['a model given twice', () => resolveConfig({ models: ['a=1', 'a=2'] }, {}), /names a twice/],
    [
      'models that are none',
      () => resolveConfig({ config: fileOf({ models: { a: 1 } }) }, {}),
      /models: must be/,
    ],
    ['a file that is no JSON', () => resolveConfig({ config: fileOf('{') }, {}), /config\.json/],
    ['a file that is not there', () => resolveConfig({ config: '/nowhere.json' }, {}), /cannot read/],
  ])('%s', (_, resolve, message) => {
    expect(resolve).toThrow(ConfigError);
    expect(resolve).toThrow(message);
  });
});
