import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsBelow } from '../../scripts/docs/commands.js';
import { makeProgram } from '../../src/cli/program.js';
import { SETTINGS } from '../../src/config/index.js';
import { ERRORS, PROBLEM_CODES } from '../../src/errors.js';
import { LIMITS } from '../../src/schema/index.js';
import { Service } from '../server/service.js';
import { allPages, Page } from './pages.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

test('settings', () => {
  const page = new Page('settings.md');
  const settings = SETTINGS.filter(({ name }) => !name.startsWith('limits.'));
  expect(page.column('name in `cosift.json`')).toEqual(settings.map(({ name }) => name));
  expect(page.column('name in `cosift.json`', 1)).toEqual(settings.flatMap(({ flag }) => flag ?? []));
  expect(page.column('name in `cosift.json`', 2)).toEqual(settings.map(({ env }) => env));
});

test('limits', () => {
  const page = new Page('limits.md');
  const names = Object.keys(LIMITS);
  expect(page.column('name | flag')).toEqual(names);
  expect(page.column('name | flag', 1)).toEqual(names.map((name) => `--limit-${name.replaceAll('_', '-')}`));
  expect(page.column('name | flag', 2)).toEqual(names.map((name) => `COSIFT_LIMIT_${name.toUpperCase()}`));
});

test('environment variables, on every page', () => {
  const known = [
    ...SETTINGS.map(({ env }) => env),
    'COSIFT_CONFIG',
    'COSIFT_URL',
    'COSIFT_KEY',
    'COSIFT_KERNEL',
  ];
  // Kubernetes makes names of this kind for a service called `cosift`.
  const isForeign = (name: string) => name === 'COSIFT_SERVICE_HOST';
  for (const { path, text } of allPages()) {
    const names = [...text.matchAll(/\bCOSIFT_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
    expect(
      names.filter((name) => !known.includes(name) && !isForeign(name)),
      path,
    ).toEqual([]);
  }
  const page = new Page('settings.md').text + new Page('limits.md').text;
  expect(known.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test('error codes', () => {
  const page = new Page('errors.md');
  expect(page.column('code | status')).toEqual(Object.keys(ERRORS));
  expect(page.column('code | meaning')).toEqual(Object.keys(PROBLEM_CODES));
});

test('routes and query parameters', async () => {
  const page = new Page('http.md');
  const { body } = await service.call('GET', '/openapi.json');
  type Operation = { operationId: string; parameters?: { in: string; name: string }[] };
  const routes = Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const sorted = (names: string[]) => names.sort();
  expect(sorted(page.column('route | operation'))).toEqual(sorted(routes.map(({ route }) => route)));
  expect(sorted(page.column('route | operation', 1))).toEqual(
    sorted(routes.map(({ operation }) => operation.operationId)),
  );
  const queries = routes.flatMap(({ route, operation: { parameters = [] } }) =>
    parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => `${route} ${name}`),
  );
  const [of, names] = [page.column('route | parameter'), page.column('route | parameter', 1)];
  expect(sorted(names.map((name, at) => `${of[at]} ${name}`))).toEqual(sorted(queries));
  const schemas = Object.keys(body.components.schemas);
  for (const at of [4, 5]) {
    const unknown = page.column('route | operation', at).filter((name) => !schemas.includes(name));
    expect(unknown).toEqual([]);
  }
});

test('routes, on every page', () => {
  const routes = new Page('http.md')
    .column('route | operation')
    .map((route) => route.replaceAll(/\{\w+\}/g, '*'));
  for (const { path, text } of allPages()) {
    const named = [...text.matchAll(/\b(GET|PUT|POST|PATCH|DELETE)\s+(\/v1\/[\w/{}-]+)/g)];
    const unknown = named
      .map(([, method, route = '']) => `${method} ${route.replaceAll(/\{\w+\}/g, '*')}`)
      .filter((route) => !routes.includes(route));
    expect(unknown, path).toEqual([]);
  }
});

test('metrics', async () => {
  const page = new Page('metrics.md');
  const { text } = await service.call('GET', '/metrics');
  const scraped = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(scraped.length).toBeGreaterThan(40);
  const documented = [...page.text.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  expect(documented.sort()).toEqual(scraped.sort());
});

test('commands, arguments and options', () => {
  const page = new Page('cli.md');
  const all = commandsBelow(makeProgram()).map((command) => {
    const names = [command.name()];
    for (let { parent } = command; parent !== null; { parent } = parent) names.unshift(parent.name());
    return { path: names.join(' '), command };
  });
  expect(page.headings(2)).toEqual([...all.map(({ path }) => path), 'Common options']);
  const common = page.chapter('Common options');
  const settings = SETTINGS.map(({ flag }) => flag);
  const flags: string[] = [];
  for (const { path, command } of all) {
    const chapter = page.chapter(path);
    for (const argument of command.registeredArguments)
      expect(chapter).toContain(`| \`<${argument.name()}>\` |`);
    for (const { long, flags: text, description } of command.options) {
      flags.push(long as string);
      if (settings.includes(long as string) && (path === 'cosift serve' || path === 'cosift config')) {
        expect(chapter).toContain('[settings](settings.md)');
      } else if (!chapter.includes(`| \`${text}\` |`)) {
        expect(common, path).toContain(`| \`${text}\` |`);
        expect(chapter, path).toContain('(#common-options)');
      }
      expect(description, `${path} ${long}`).not.toBe('');
    }
    expect(command.description(), path).not.toBe('');
    if (command.commands.length === 0) expect(chapter, path).toContain('Examples:');
  }
  const named = [...page.text.matchAll(/(?<![\w-])--[a-z][\w-]+/g)].map(([flag]) => flag);
  const known = (flag: string) => flags.includes(flag) || ['--help', '--limit-NAME'].includes(flag);
  expect(named.filter((flag) => !known(flag))).toEqual([]);
});

test('the examples of the commands are command lines that the program takes', async () => {
  const blocks = [...new Page('cli.md').text.matchAll(/Examples:\n\n```sh\n([\s\S]*?)\n```/g)];
  const lines = blocks.flatMap(([, block = '']) => block.split('\n'));
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const words = [
      ...line
        .replace(/^.* \| (?=cosift )/, '')
        .replace(/ \| .*$/, '')
        .replace(/^.*<\((cosift [^)]*)\).*$/, '$1')
        .replace(/ > \S+$/, '')
        .matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ].map(([, single, double, plain]) => single ?? double ?? plain ?? '');
    expect(words[0], line).toBe('cosift');
    const program = makeProgram();
    let taken = 0;
    for (const command of commandsBelow(program)) {
      command.exitOverride().configureOutput({ writeErr: () => undefined });
      const take = () => {
        taken += 1;
      };
      if (command.commands.length === 0) command.action(take);
    }
    await program.parseAsync(words.slice(1), { from: 'user' });
    expect(taken, line).toBe(1);
  }
});

test('events of the log', () => {
  const source = readFileSync(
    new URL('../../crates/engine/src/runtime/events/event.rs', import.meta.url),
    'utf8',
  );
  const codes = [...source.matchAll(/Self::\w+ => "(\w+)"/g)].map(([, code]) => code as string);
  const levels = ['info', 'warn', 'error'];
  const page = new Page('log.md');
  expect(page.column('code | level')).toEqual(codes.filter((code) => !levels.includes(code)));
});
