import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { parseEndpoint } from '../../src/config/index.js';
import { openEndpoint } from '../../src/embedding/endpoint.js';
import type { EndpointTimes } from '../../src/embedding/endpoint-request.js';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';
import { CosiftError } from '../../src/errors.js';
import { EmbeddingsServer, lettersOf } from '../helpers/embeddings-server.js';

const KEY = 'sk-very-secret-key-0123456789';
const directory = mkdtempSync(join(tmpdir(), 'cosift-endpoint-'));
const keyFile = join(directory, 'key');
writeFileSync(keyFile, `${KEY}\n`);

let server: EmbeddingsServer;
const embedders: Embedder[] = [];

beforeEach(async () => {
  server = await EmbeddingsServer.start();
});
afterEach(async () => {
  await Promise.all(embedders.splice(0).map((embedder) => embedder.close()));
  await server.stop().catch(() => undefined);
});
afterAll(() => rmSync(directory, { recursive: true }));

async function open(parameters = ''): Promise<Embedder> {
  const embedder = await createEmbedder({ model: server.source(parameters), name: 'mine' });
  embedders.push(embedder);
  server.requests.length = 0;
  return embedder;
}

/** Times in which a failure is certain soon, and a success is not prevented. */
const SHORT: EndpointTimes = {
  probe: { attemptMs: 30_000, totalMs: 0, pauseMs: 1 },
  query: { attemptMs: 30_000, totalMs: 0, pauseMs: 1 },
  passage: { attemptMs: 30_000, totalMs: 30_000, pauseMs: 1 },
};

/** Embeds texts without turns and cache, with other times. */
async function embed(kind: 'query' | 'passage', texts: string[], times = SHORT, parameters = '') {
  const { embed } = await openEndpoint('mine', parseEndpoint(server.source(parameters)), times);
  server.requests.length = 0;
  return (signal = new AbortController().signal) => embed(texts, kind, signal);
}

function unit(text: string): Float32Array {
  const letters = lettersOf(text);
  return Float32Array.from(letters, (value) => value / Math.hypot(...letters));
}

test('texts are sent in batches, and each gets its vector with length 1', async () => {
  const embedder = await open();
  expect(embedder).toMatchObject({ model: 'mine', dimensions: 26 });
  const texts = Array.from({ length: 100 }, (_, i) => `record ${'abcdefghij'[i % 10]} ${'x'.repeat(i)}`);
  const { vectors } = await embedder.embedPassages(texts);
  for (const [i, text] of texts.entries()) {
    expect(vectors.slice(i * 26, (i + 1) * 26)).toEqual(unit(text));
  }
  expect(server.requests.flatMap(({ body }) => body.input).toSorted()).toEqual(texts.toSorted());
  expect(Math.max(...server.requests.map(({ body }) => body.input.length))).toBe(32);
  expect(server.requests[0]).toMatchObject({
    url: '/v1/embeddings',
    body: { model: 'letters', encoding_format: 'float' },
  });
  expect(server.requests[0]!.body).not.toHaveProperty('dimensions');
  expect(server.maxInFlight).toBeLessThanOrEqual(4);
});

test('at most four requests run at once, and further texts wait', async () => {
  const embedder = await open();
  const held: (() => void)[] = [];
  server.always = (request, response) => held.push(() => EmbeddingsServer.vectors(request, response));
  const all = Promise.all(
    Array.from({ length: 10 }, (_, i) => embedder.embedPassages([`text ${'a'.repeat(i)}`])),
  );
  await expect.poll(() => held.length).toBe(4);
  expect(embedder.stats()).toMatchObject({ queued: 6, running: 4 });
  server.always = EmbeddingsServer.vectors;
  for (const release of held) release();
  await all;
  expect(server.maxInFlight).toBe(4);
});

test('concurrent searches for one text ask once, and a blank record is not sent', async () => {
  const embedder = await open();
  const [first, second] = await Promise.all([embedder.embedQuery('abc'), embedder.embedQuery('abc')]);
  expect(first).toEqual(Float64Array.from(unit('abc')));
  expect(second).toEqual(first);
  await embedder.embedQuery('abc');
  expect(server.requests).toHaveLength(1);
  const { vectors } = await embedder.embedPassages([' ', 'abc', '']);
  expect(server.requests[1]!.body.input).toEqual(['abc']);
  expect([...vectors]).toEqual([...new Float32Array(26), ...unit('abc'), ...new Float32Array(26)]);
});

test('prompts, dimensions and key are sent as the source says', async () => {
  process.env.TEST_MODEL_KEY = KEY;
  const embedder = await open(
    '&dimensions=26&key_env=TEST_MODEL_KEY&query_prompt=query:+&passage_prompt=text:+',
  );
  await embedder.embedQuery('abc');
  await embedder.embedPassages(['abc']);
  expect(server.requests.map(({ body }) => body.input)).toEqual([['query: abc'], ['text: abc']]);
  expect(server.requests[0]!.body.dimensions).toBe(26);
  expect(server.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
  const other = await open(`&key_file=${encodeURIComponent(keyFile)}`);
  await other.embedQuery('abc');
  expect(server.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
});

test('what identifies the vectors is the fingerprint', async () => {
  const { fingerprint } = await open();
  const of = async (parameters: string) => (await open(parameters)).fingerprint;
  expect(await of('')).toBe(fingerprint);
  expect(await of(`&key_file=${encodeURIComponent(keyFile)}`)).toBe(fingerprint);
  expect(await of('&dimensions=26')).toBe(fingerprint);
  expect(await of('&query_prompt=query:+')).not.toBe(fingerprint);
  const other = await createEmbedder({ model: `${server.origin}/v2#model=letters` });
  embedders.push(other);
  expect(other.fingerprint).not.toBe(fingerprint);
});

test.each([
  ['429', EmbeddingsServer.status(429)],
  ['500', EmbeddingsServer.status(500)],
  ['503', EmbeddingsServer.status(503)],
  ['a lost connection', EmbeddingsServer.hangUp],
])('another attempt is made after %s', async (_, failure) => {
  const call = await embed('passage', ['abc']);
  server.next.push(failure, failure);
  expect(await call()).toEqual([lettersOf('abc')]);
  expect(server.requests).toHaveLength(3);
});

test('a pause is as long as Retry-After asks, and a longer one than is left is not waited for', async () => {
  const call = await embed('passage', ['abc']);
  server.next.push(EmbeddingsServer.status(429, {}, { 'retry-after': '1' }));
  const begin = performance.now();
  await call();
  expect(performance.now() - begin).toBeGreaterThanOrEqual(990);
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  for (const asked of ['3600', inAnHour]) {
    server.next.push(EmbeddingsServer.status(503, {}, { 'retry-after': asked }));
    await expect(call()).rejects.toMatchObject({
      code: 'model_unavailable',
      detail: /status 503; attempts: 1$/,
    });
  }
});

test('an abort ends the request', async () => {
  const call = await embed('passage', ['abc']);
  server.always = EmbeddingsServer.silence;
  const stop = new AbortController();
  const result = call(stop.signal);
  await expect.poll(() => server.requests.length).toBe(1);
  stop.abort(new Error('not needed'));
  await expect(result).rejects.toThrow('not needed');
  await expect.poll(() => server.inFlight).toBe(0);
  expect(server.requests).toHaveLength(1);
});

test('a search that is abandoned ends its request, and the next one is answered', async () => {
  const embedder = await open();
  server.next.push(EmbeddingsServer.silence);
  const stop = new AbortController();
  const result = embedder.embedQuery('abc', { signal: stop.signal });
  await expect.poll(() => server.inFlight).toBe(1);
  stop.abort(new Error('not needed'));
  await expect(result).rejects.toThrow('not needed');
  await expect.poll(() => server.inFlight).toBe(0);
  expect(await embedder.embedQuery('abc')).toEqual(Float64Array.from(unit('abc')));
});

const bad = (embedding: unknown) =>
  EmbeddingsServer.data((texts) => texts.map((_, index) => ({ index, embedding })));
const UNAVAILABLE: [name: string, reply: typeof EmbeddingsServer.silence, why: RegExp][] = [
  [
    'a refused key',
    EmbeddingsServer.status(401, { error: { message: `bad ${KEY}` } }),
    /refuses access \(status 401\): check the API key/,
  ],
  [
    'a redirect',
    EmbeddingsServer.status(307, {}, { location: 'http://127.0.0.1:9/' }),
    /redirect \(status 307\), which is not followed/,
  ],
  [
    'no such model',
    EmbeddingsServer.status(404, { error: { message: `no model ${KEY}\n` } }),
    /status 404: no model … : check the address and the name of the model, "letters"/,
  ],
  [
    'a part of the key',
    EmbeddingsServer.status(404, {
      error: { message: `no model for ${KEY.slice(0, 12)}***${KEY.slice(-6)}` },
    }),
    /status 404: no model for …\*\*\*…: check the address/,
  ],
  ['no JSON', (_, response) => response.end('<html>'), /the response is not JSON/],
  ['no vectors', EmbeddingsServer.status(200, { vectors: [] }), /"data" must have 1 vectors/],
  ['too few vectors', EmbeddingsServer.data(() => []), /"data" must have 1 vectors/],
  [
    'an index that is missing',
    EmbeddingsServer.data(() => [{ index: 1, embedding: lettersOf('a') }]),
    /no vector with index 0/,
  ],
  ['a vector in base64', bad('AAAA'), /no vector with index 0/],
  ['other dimensions', bad([1, 2, 3]), /vector of text 0 has 3 values, but the model has 26 dimensions/],
  ['zeros', bad(lettersOf('')), /vector of text 0 has only zeros/],
  ['a text in a vector', bad([...lettersOf('a').slice(1), 'x']), /a value that is no finite number/],
  ['a null in a vector', bad([...lettersOf('a').slice(1), null]), /a value that is no finite number/],
  [
    'a number without end',
    (_, response) => response.end(`{"data":[{"index":0,"embedding":[${'1e999,'.repeat(25)}1]}]}`),
    /a value that is no finite number/,
  ],
  [
    'too many bytes',
    (_, response) => response.end(`{"data":"${'x'.repeat(300_000)}"}`),
    /responds with more than \d+ bytes/,
  ],
];

test.each(UNAVAILABLE)('%s is reported without the key', async (_, reply, why) => {
  const embedder = await open(`&key_file=${encodeURIComponent(keyFile)}&dimensions=26`);
  server.always = reply;
  const error = await embedder.embedPassages(['abc']).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(CosiftError);
  expect(error).toMatchObject({ code: 'model_unavailable', status: 503, detail: expect.stringMatching(why) });
  expect(error.detail).toMatch(/^model "mine" cannot embed the texts: /);
  for (let thrown = error; thrown !== undefined; thrown = thrown.cause) {
    expect(String(thrown.stack)).not.toContain(KEY);
  }
  // What cannot succeed is not tried again.
  expect(server.requests).toHaveLength(1);
  server.always = EmbeddingsServer.vectors;
  expect((await embedder.embedPassages(['abc'])).vectors).toEqual(unit('abc'));
});

test('a redirect is not followed with the key', async () => {
  const other = await EmbeddingsServer.start();
  server.always = EmbeddingsServer.status(308, {}, { location: `${other.origin}/v1/embeddings` });
  await expect(createEmbedder({ model: server.source() })).rejects.toMatchObject({
    code: 'model_unavailable',
  });
  expect(other.requests).toEqual([]);
  await other.stop();
});

test('a text that the endpoint refuses is a fault of the request, but not that of the first one', async () => {
  const embedder = await open();
  server.always = EmbeddingsServer.status(400, { error: { message: 'at most 8192 tokens' } });
  const error = await embedder.embedPassages(['abc']).catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: 'invalid_request',
    detail: 'model "mine" refuses the texts; one of them may be longer than it takes',
    cause: { detail: expect.stringMatching(/refuses them \(status 400\): at most 8192 tokens/) },
  });
  await expect(createEmbedder({ model: server.source() })).rejects.toMatchObject({
    code: 'model_unavailable',
  });
});

test('a server that does not respond is given up', async () => {
  const times = { ...SHORT, probe: { attemptMs: 50, totalMs: 0, pauseMs: 1 } };
  server.always = EmbeddingsServer.silence;
  await expect(openEndpoint('mine', parseEndpoint(server.source()), times)).rejects.toMatchObject({
    code: 'model_unavailable',
    detail: expect.stringMatching(/did not respond within 0\.05 s; attempts: 1/),
  });
});

test('a server that is not there is named', async () => {
  await server.stop();
  await expect(openEndpoint('mine', parseEndpoint(server.source()), SHORT)).rejects.toMatchObject({
    code: 'model_unavailable',
    detail: expect.stringMatching(/127\.0\.0\.1:\d+\/v1\/embeddings cannot be reached \(ECONNREFUSED\)/),
  });
});

test('what is no HTTP server is named', async () => {
  const noise = createServer((socket) => socket.end('hello\r\n'));
  await new Promise<void>((resolve) => {
    noise.listen(0, '127.0.0.1', resolve);
  });
  const { port } = noise.address() as { port: number };
  const source = parseEndpoint(`http://127.0.0.1:${port}#model=x`);
  await expect(openEndpoint('mine', source, SHORT)).rejects.toMatchObject({ code: 'model_unavailable' });
  noise.close();
});

test.each([
  ['key_env=TEST_NO_SUCH_KEY', /environment variable TEST_NO_SUCH_KEY must have its API key/],
  ['key_file=/no/such/file', /file \/no\/such\/file with its API key cannot be read \(ENOENT\)/],
])('a key that is missing is named: %s', async (parameter, why) => {
  await expect(createEmbedder({ model: server.source(`&${parameter}`) })).rejects.toMatchObject({
    code: 'model_unavailable',
    detail: expect.stringMatching(why),
  });
  expect(server.requests).toEqual([]);
});

test.each([
  ['https://api.example.com#model=a', 'https://api.example.com/v1/embeddings'],
  ['https://api.example.com/#model=a', 'https://api.example.com/v1/embeddings'],
  ['https://api.example.com/openai/v1/#model=a', 'https://api.example.com/openai/v1/embeddings'],
  ['https://api.example.com/v3/embeddings#model=a', 'https://api.example.com/v3/embeddings'],
  ['http://[::1]:11434/v1#model=a', 'http://[::1]:11434/v1/embeddings'],
  ['http://gpu.local/v1#model=a&allow_http=true', 'http://gpu.local/v1/embeddings'],
])('the address of %s', (source, url) => {
  expect(parseEndpoint(source).url).toBe(url);
});

test.each([
  ['https://api.example.com/v1', /must name the model of the service/],
  [
    'https://u:secret@api.example.com/v1#model=a',
    /neither a user nor a query; name the API key by key_env or key_file/,
  ],
  ['https://api.example.com/v1?key=secret#model=a', /neither a user nor a query/],
  ['http://gpu.local/v1#model=a', /unencrypted to gpu\.local: use https/],
  ['http://127.0.0.1.example.com/v1#model=a', /unencrypted/],
  ['https://api.example.com/v1#model=a&dimension=3', /no parameter dimension/],
  ['https://api.example.com/v1#model=a&model=b', /has model twice/],
  ['https://api.example.com/v1#model=a&dimensions=0', /dimensions must be a whole number/],
  ['https://api.example.com/v1#model=a&key_env=A&key_file=b', /not both/],
  ['https://api.example.com/v1#model=a&allow_http=yes', /allow_http must be true or false/],
])('a source is refused: %s', (source, why) => {
  expect(() => parseEndpoint(source)).toThrow(why);
  expect(() => parseEndpoint(source)).not.toThrow(/secret/);
});
