import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Service } from '../server/service.js';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const CLIENT = new URL('../../packages/client/dist/index.js', import.meta.url);

/** The script of the page. It sends what it found to its own server. */
const script = (url: string, key: string) => `
  import { Client, CosiftError } from '/client.js';
  const report = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });
  try {
    let compiles = true;
    try { new Function(''); } catch { compiles = false; }
    const client = new Client({ url: ${JSON.stringify(url)}, key: ${JSON.stringify(key)} });
    const facts = await client.createDatabase('facts', { dimensions: 2 });
    const { created } = await facts.upsert([{ data: { name: 'a' }, vector: Float32Array.of(1, 0) }]);
    const found = [];
    for await (const { data } of facts.searchAll({ vector: [1, 0] })) found.push(data.name);
    const wrong = await facts.search({ vector: [1] }).catch((error) => error);
    const stopped = await facts.query({ signal: AbortSignal.abort('no more') }).catch((reason) => reason);
    await facts.drop();
    await client.close();
    report({ compiles, created, found, wrong: [wrong instanceof CosiftError, wrong.code], stopped });
  } catch (error) {
    report({ error: String(error.stack ?? error) });
  }`;

test('a page of another origin, whose policy forbids eval', async ({ skip }) => {
  const browser = BROWSERS.find((file) => existsSync(file));
  if (browser === undefined) return skip('Chromium is not installed');

  let service: Service | undefined;
  let resolve!: (result: unknown) => void;
  const result = new Promise<unknown>((done) => {
    resolve = done;
  });
  const pages = createServer(async (request, response) => {
    const policy = `default-src 'none'; script-src 'self'; connect-src 'self' ${service?.url}`;
    const send = (type: string, body: string) =>
      response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(body);
    switch (request.url) {
      case '/':
        return send(
          'text/html',
          '<!doctype html><title>Page</title><script type="module" src="/page.js"></script>',
        );
      case '/page.js':
        return send('text/javascript', script(service!.url, service!.adminKey));
      case '/client.js':
        return send('text/javascript', readFileSync(CLIENT, 'utf8'));
      case '/result': {
        let text = '';
        for await (const chunk of request) text += chunk;
        send('text/plain', '');
        return resolve(JSON.parse(text));
      }
      default:
        return response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const profile = await mkdtemp(path.join(tmpdir(), 'cosift-browser-'));
  service = await Service.start({ corsOrigins: origin });
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    `--user-data-dir=${profile}`,
  ];
  const child = spawn(browser, [...flags, '--remote-debugging-port=0', origin], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    const early = ended.then(([code]) => ({ error: `the browser ended with ${code}` }));
    expect(await Promise.race([result, early])).toEqual({
      compiles: false,
      created: 1,
      found: ['a'],
      wrong: [true, 'invalid_dimensions'],
      stopped: 'no more',
    });
  } finally {
    child.kill();
    await ended;
    pages.closeAllConnections();
    pages.close();
    await service.stop();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
