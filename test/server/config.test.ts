import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, resolveConfig } from '../../src/config/index.js';

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

test('a model may be an endpoint, whose URL is checked and stays as it is', () => {
  const source = 'https://api.example.com/v1#model=small&dimensions=3&key_env=API_KEY';
  const { config, settings } = resolveConfig({}, { COSIFT_MODELS: `a=one,b=${source}` });
  expect(config.models).toEqual({ a: path.resolve('one'), b: source });
  expect(settings.find(({ name }) => name === 'models')?.value).toContain(`b=${source}`);
  for (const [wrong, why] of [
    [
      'https://u:secret@api.example.com/v1#model=a',
      /^--models: the URL of b must have neither a user nor a query/,
    ],
    ['https://api.example.com/v1?key=secret#model=a', /^--models: the URL of b must have neither/],
    ['https://api.example.com/v1', /^--models: the URL of b must name the model/],
  ] as const) {
    expect(() => resolveConfig({ models: [`b=${wrong}`] }, {})).toThrow(why);
    expect(() => resolveConfig({ models: [`b=${wrong}`] }, {})).not.toThrow(/secret/);
  }
});

test('origins and proxies come by flags, a variable or the file', () => {
  const { config } = resolveConfig({}, {});
  expect([config.corsOrigins, config.trustedProxies]).toEqual([[], []]);
  const env = {
    COSIFT_CORS_ORIGINS: 'https://a.example, http://localhost:5173',
    COSIFT_TRUSTED_PROXIES: '10.0.0.0/8,::1',
  };
  expect(resolveConfig({}, env).config).toMatchObject({
    corsOrigins: ['https://a.example', 'http://localhost:5173'],
    trustedProxies: ['10.0.0.0/8', '::1'],
  });
  expect(resolveConfig({ corsOrigins: ['*'] }, env).config.corsOrigins).toEqual(['*']);
  const file = fileOf({ cors_origins: ['capacitor://localhost', 'chrome-extension://abc'] });
  expect(resolveConfig({ config: file }, {}).config.corsOrigins).toHaveLength(2);
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
    ...['https://a.example/', 'https://A.example', 'https://a.example:443', 'https://a.example/path'].map(
      (origin): [string, () => unknown, RegExp] => [
        `the origin ${origin}`,
        () => resolveConfig({ corsOrigins: [origin] }, {}),
        /--cors-origins: .* is not an origin.*; did you mean https:\/\/a\.example\?/,
      ],
    ),
    ...['a.example', 'null', 'https://*.a.example', ''].map((origin): [string, () => unknown, RegExp] => [
      `the origin "${origin}"`,
      () => resolveConfig({}, { COSIFT_CORS_ORIGINS: origin }),
      /COSIFT_CORS_ORIGINS: .* is not an origin/,
    ]),
    [
      'every origin and another one',
      () => resolveConfig({ corsOrigins: ['*', 'https://a.example'] }, {}),
      /must be "\*" alone/,
    ],
    ...['0.0.0.0/0', '::/0'].map((range): [string, () => unknown, RegExp] => [
      `trust in the whole range ${range}`,
      () => resolveConfig({}, { COSIFT_TRUSTED_PROXIES: range }),
      /COSIFT_TRUSTED_PROXIES: ".*" contains every address; list those of the proxies/,
    ]),
    [
      'a proxy without an address',
      () => resolveConfig({ trustedProxies: ['proxy.local'] }, {}),
      /--trusted-proxies: "proxy\.local" is neither an address nor a CIDR range/,
    ],
    ['a file that is no JSON', () => resolveConfig({ config: fileOf('{') }, {}), /config\.json/],
    ['a file that is not there', () => resolveConfig({ config: '/nowhere.json' }, {}), /cannot read/],
  ])('%s', (_, resolve, message) => {
    expect(resolve).toThrow(ConfigError);
    expect(resolve).toThrow(message);
  });
});

describe('what Kubernetes sets for a service called cosift', () => {
  test('is passed over with a warning', () => {
    const env = {
      COSIFT_PORT: 'tcp://10.0.0.1:8080',
      COSIFT_SERVICE_HOST: '10.0.0.1',
      COSIFT_SERVICE_PORT: '8080',
      COSIFT_SERVICE_PORT_HTTP: '8080',
      COSIFT_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      COSIFT_PORT_8080_TCP_PROTO: 'tcp',
      COSIFT_PORT_8080_TCP_PORT: '8080',
      COSIFT_PORT_8080_TCP_ADDR: '10.0.0.1',
      COSIFT_BACKUP_SERVICE_HOST: '10.0.0.2',
      COSIFT_BACKUP_PORT: 'udp://10.0.0.2:53',
    };
    const { config, warnings } = resolveConfig({}, { ...env, COSIFT_HOST: '0.0.0.0' });
    expect(config).toMatchObject({ port: 8080, host: '0.0.0.0' });
    expect(warnings.map((warning) => /variable (\w+) is ignored/.exec(warning)?.[1])).toEqual(
      Object.keys(env),
    );
    expect(resolveConfig({ config: fileOf({ port: 7 }) }, env).config.port).toBe(7);
  });

  test.each<Record<string, string>>([
    { COSIFT_PORT: '8080x' },
    { COSIFT_PORT: 'http://10.0.0.1' },
    { COSIFT_SERVICE: 'x' },
    { COSIFT_SERVICE_HOSTS: '10.0.0.1' },
    { COSIFT_BACKUP_PORT: '8080' },
  ])('is not what only resembles it: %j', (env) => {
    expect(() => resolveConfig({}, env)).toThrow(ConfigError);
  });
});

test('targets of webhooks are checked as they are read', () => {
  const allowed = (webhookAllow: unknown) => resolveConfig({ webhookAllow }, {}).config.webhookAllow;
  expect(allowed(undefined)).toEqual([]);
  expect(allowed(['10.0.0.0/8, 127.0.0.1', 'receiver.internal'])).toEqual([
    '10.0.0.0/8',
    '127.0.0.1',
    'receiver.internal',
  ]);
  for (const wrong of ['10.0.0.0/99', 'a b', '', 'http://receiver']) {
    expect(() => allowed(wrong), wrong).toThrow(/--webhook-allow/);
  }
});

test.each(['-3', '0', '1.5', '1e2', '', ' 4', '4294967293', 'NaN'])(
  'threads %j are refused wherever they are set, with the value and what is allowed',
  (value) => {
    for (const [name, most] of [
      ['threads', 1024],
      ['embed_workers', 256],
    ] as const) {
      const allowed = `must be a whole number from 1 to ${most}, not ${JSON.stringify(value)}`;
      const flag = name === 'threads' ? 'threads' : 'embedWorkers';
      expect(() => resolveConfig({ [flag]: value }, {})).toThrow(allowed);
      expect(() => resolveConfig({}, { [`COSIFT_${name.toUpperCase()}`]: value })).toThrow(allowed);
      const config = fileOf({ [name]: value === '' || value === 'NaN' ? null : Number(value) + 2 ** 40 });
      expect(() => resolveConfig({ config }, {})).toThrow(`must be a whole number from 1 to ${most}, not `);
    }
  },
);

test('a member that the config file has twice is refused, as in requests', () => {
  const refusal = (json: string) => {
    try {
      resolveConfig({ config: fileOf(json) }, {});
      return undefined;
    } catch (error) {
      return (error as Error).message.replace(directory, '');
    }
  };
  expect(refusal('{"port": 1, "host": "port", "port": 2}')).toBe('/config.json: port is given twice');
  expect(refusal('{"limits": {"filter_depth": 1, "filter_d\\u0065pth": 2}}')).toBe(
    '/config.json: limits.filter_depth is given twice',
  );
  expect(
    refusal('{"models": {"a": "x", "b": "a\\":{", "c": "a"}, "host": "{\\"a\\":1,\\"a\\":2}"}'),
  ).toBeUndefined();
});

test('a config file without an end is refused', () => {
  expect(() => resolveConfig({ config: '/dev/zero' }, {})).toThrow('/dev/zero is larger than 1048576 bytes');
});

test('a depth of filters that the stack does not hold is refused', () => {
  expect(resolveConfig({ limitFilterDepth: '256' }, {}).config.limits.filter_depth).toBe(256);
  expect(() => resolveConfig({ limitFilterDepth: '257' }, {})).toThrow(
    '--limit-filter-depth: must be a whole number from 1 to 256',
  );
});
