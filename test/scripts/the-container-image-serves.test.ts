import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../../scripts/postgres/free-port.js';
import { Command, temporaryDirectory } from '../helpers/processes.js';

const root = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');

/** The instructions of the Dockerfile, without comments and with their continuation lines. */
const instructions = read('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter(Boolean)
  .map((line) => {
    const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    return { name, text };
  });

/** The last instruction with a name: that of the final image. */
const last = (name: string) => instructions.findLast((instruction) => instruction.name === name)!.text;

const settings = Object.fromEntries(
  [...last('ENV').matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
);

test('every file that is copied from the checkout is there, and is sent to the build', () => {
  const ignored = read('.dockerignore').split('\n');
  const copied = instructions
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1));
  expect(copied).toContain('package-lock.json');
  for (const file of copied) {
    expect(existsSync(path.join(root, file)), file).toBe(true);
    expect(ignored, file).not.toContain(file.split('/')[0]);
  }
});

test('the command serves with the settings of the image, and the health check follows it', async () => {
  const port = await freePort();
  const data = await temporaryDirectory();
  const env = { ...settings, PATH: process.env.PATH ?? '', COSIFT_PORT: String(port), COSIFT_DATA: data };
  const health = JSON.parse(/ CMD (\[.*\])$/.exec(last('HEALTHCHECK'))?.[1] ?? '[]') as string[];
  expect(health[0]).toBe('node');
  const isHealthy = () => spawnSync(process.execPath, health.slice(1), { env }).status === 0;

  expect(JSON.parse(last('ENTRYPOINT'))).toEqual(['cosift']);
  expect(isHealthy()).toBe(false);
  const command = new Command(JSON.parse(last('CMD')), env);
  await command.waitFor('stdout', new RegExp(`listening on http://.*:${port}\n`));
  expect(isHealthy()).toBe(true);
  command.child.kill(last('STOPSIGNAL') as NodeJS.Signals);
  expect(await command.ended()).toBe(0);
  expect(isHealthy()).toBe(false);
});

test('the image runs as a user without rights, and compose names its port and its data', () => {
  expect(last('USER')).not.toMatch(/^(root|0)\b/);
  const compose = read('compose.yaml');
  expect(last('EXPOSE')).toBe(settings.COSIFT_PORT);
  expect(compose).toContain(`'127.0.0.1:${settings.COSIFT_PORT}:${settings.COSIFT_PORT}'`);
  expect(compose).toContain(`- cosift:${settings.COSIFT_DATA}\n`);
});
