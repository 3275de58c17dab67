import { appendFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from 'cosift';
import { expect, test } from 'vitest';
import { isDirectory } from '../../src/databases/index.js';
import { EmbeddingsServer } from '../helpers/embeddings-server.js';
import { cosift, temporaryDirectory } from '../helpers/processes.js';

const BUILT_IN = fileURLToPath(new URL('../../models/all-MiniLM-L6-v2', import.meta.url));

test('an added model is found by its name, and a changed file is a problem of its databases', async () => {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const empty = await cosift('model', 'list', '--data', data);
  expect(empty).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nall-MiniLM-L6-v2 +384 +256 /) });
  expect(isDirectory(data)).toBe(false);

  const mine = join(directory, 'mine');
  await cp(BUILT_IN, mine, { recursive: true, dereference: true });
  expect(await cosift('model', 'add', mine, '--data', data)).toMatchObject({ code: 0, stderr: '' });
  expect(await cosift('model', 'add', mine, '--data', data)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is a model "mine"'),
  });
  const library = await open(data);
  await library.createDatabase('facts', { model: 'mine' });
  await library.close();
  const listed = await cosift('model', 'list', '--data', data);
  expect(listed.stdout).toMatch(/\nmine +384 +256 +[\d.]+ MB +[0-9a-f]{12} +facts +/);
  expect((await cosift('model', 'verify', 'mine', '--data', data)).stdout).toMatch(
    /^ok +mine +384 dimensions/,
  );

  await appendFile(join(data, 'models/mine/tokenizer.json'), ' ');
  const changed = await cosift('model', 'verify', '--data', data);
  expect(changed.code).toBe(1);
  expect(changed.stdout).toMatch(
    /^ok +all-MiniLM-L6-v2 .*\nproblem +mine +database "facts" was embedded with another/,
  );

  await writeFile(join(data, 'models/mine/tokenizer.json'), '{');
  const broken = await cosift('model', 'verify', 'mine', '--data', data);
  expect(broken.stdout).toContain('tokenizer.json cannot be used');
  const searched = await cosift('search', 'x', '--database', 'facts', '--data', data);
  expect(searched.stderr).toContain('`cosift model verify mine` says why');
  expect(searched.stderr).toContain('tokenizer.json cannot be used');
});

test('what is no model is not added', async () => {
  const directory = await temporaryDirectory();
  const refused = await cosift('model', 'add', directory, '--name', 'x', '--data', join(directory, 'data'));
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('modules.json') });
  const missing = await cosift('model', 'add', join(directory, 'none'), '--data', join(directory, 'data'));
  expect(missing.stderr).toMatch(/there is no directory .*none/);
  expect(isDirectory(join(directory, 'data'))).toBe(false);
});

test('an endpoint is listed without being asked, and verified with one text', async () => {
  const server = await EmbeddingsServer.start();
  const data = join(await temporaryDirectory(), 'data');
  const models = `letters=${server.source('&key_env=TEST_LETTERS_KEY')}`;
  process.env.TEST_LETTERS_KEY = 'sk-very-secret';
  const listed = await cosift('model', 'list', '--data', data, '--models', models);
  expect(listed.stdout).toContain(`http://127.0.0.1:`);
  expect(listed.stdout).toMatch(/\nletters +not read +http/);
  expect(server.requests).toEqual([]);

  const verified = await cosift('model', 'verify', 'letters', '--data', data, '--models', models);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok +letters +26 dimensions/) });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]!.headers.authorization).toBe('Bearer sk-very-secret');

  server.always = EmbeddingsServer.status(401, { error: { message: 'sk-very-secret' } });
  const refused = await cosift('model', 'verify', 'letters', '--data', data, '--models', models);
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^problem +letters .*check the API key/),
  });
  expect(refused.stdout + refused.stderr).not.toContain('sk-very-secret');

  const wrong = await cosift(
    'model',
    'list',
    '--data',
    data,
    '--models',
    'letters=http://gpu.local/v1#model=a',
  );
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('allow it with allow_http=true') });
  await server.stop();
});
