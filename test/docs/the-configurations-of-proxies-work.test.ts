import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { freePort } from '../../scripts/postgres/free-port.js';
import { KEY, serve, temporaryDirectory } from '../helpers/processes.js';
import { blocksOf } from './blocks.js';
import { root } from './installation.js';

const PAGE = 'docs/how-to/run-behind-a-proxy.md';
const blocks = blocksOf(PAGE, readFileSync(join(root, PAGE), 'utf8'));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What a configuration of the page needs to run here. */
interface Place {
  directory: string;
  port: number;
  cosift: string;
  certificate: string;
  key: string;
}

const PROXIES = {
  nginx: {
    needs: ['nginx', 'openssl'],
    command({ directory, port, cosift, certificate, key }: Place): [string, string[]] {
      const own = (blocks.find(({ language }) => language === 'nginx')?.text ?? '')
        .replace('127.0.0.1:8080', cosift)
        .replace('listen 443 ', `listen 127.0.0.1:${port} `)
        .replace('/etc/ssl/certs/search.example.com.pem', certificate)
        .replace('/etc/ssl/private/search.example.com.key', key);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${directory}/${name};`,
      );
      const around = `daemon off; pid ${directory}/pid; error_log stderr; events {}
        http { access_log off; ${temporary.join(' ')}\n${own}\n}`;
      writeFileSync(join(directory, 'nginx.conf'), around);
      return ['nginx', ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', 'stderr']];
    },
  },
  caddy: {
    needs: ['caddy', 'openssl'],
    command({ directory, port, cosift, certificate, key }: Place): [string, string[]] {
      const own = (blocks.find(({ file }) => file === 'Caddyfile')?.text ?? '')
        .replace('127.0.0.1:8080', cosift)
        .replace('search.example.com {', `https://localhost:${port} {\n\ttls ${certificate} ${key}`);
      const around = `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${own}`;
      writeFileSync(join(directory, 'Caddyfile'), around);
      return ['caddy', ['run', '--adapter', 'caddyfile', '--config', join(directory, 'Caddyfile')]];
    },
  },
};

/** Starts cosift and the proxy; sends requests to the proxy. */
async function begin(name: keyof typeof PROXIES) {
  const directory = mkdtempSync(join(tmpdir(), 'cosift-proxy-'));
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  spawnSync('openssl', [...made, ...names, '-keyout', key, '-out', certificate]);
  const { command, url } = await serve(await temporaryDirectory(), '--trusted-proxies', '127.0.0.1');
  const port = await freePort();
  const place = { directory, port, cosift: new URL(url).host, certificate, key };
  mkdirSync(join(directory, 'home'));
  const [program, args] = PROXIES[name].command(place);
  const home = { HOME: join(directory, 'home'), XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
  const proxy: ChildProcess = spawn(program, args, {
    env: { ...process.env, ...home },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  proxy.stderr?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  closing.push(async () => {
    proxy.kill('SIGTERM');
    if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, 'exit');
    rmSync(directory, { recursive: true, force: true });
  });
  const ca = readFileSync(certificate);
  const open = (method: string, path: string, headers: Record<string, string> = {}) =>
    request({
      host: '127.0.0.1',
      servername: 'localhost',
      port,
      method,
      path,
      ca,
      agent: false,
      // Another address than that of the proxy.
      localAddress: '127.0.0.2',
      headers: { host: `localhost:${port}`, 'x-api-key': KEY, ...headers },
    });
  const call = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const sent = open(method, path, { ...(body && { 'content-type': 'application/json' }), ...headers });
    sent.end(body);
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) };
  };
  await vi.waitFor(
    async () => {
      if (proxy.exitCode !== null) throw new Error(output);
      expect((await call('GET', '/readyz')).status).toBe(200);
    },
    { timeout: 30_000, interval: 50 },
  );
  return { command, open, call };
}

test.for(Object.keys(PROXIES) as (keyof typeof PROXIES)[])(
  '%s passes on streams, waits, large bodies, compression and addresses',
  async (name, { skip }) => {
    const missing = PROXIES[name].needs.find((program) => spawnSync('which', [program]).status !== 0);
    if (missing !== undefined) skip(`${missing} is not installed`);
    const { command, open, call } = await begin(name);
    const database = '/v1/databases/lines';
    expect((await call('PUT', database, '{"dimensions":2}')).status).toBe(201);

    // Each line is acknowledged while the stream is open.
    const stream = open('POST', `${database}/records`, { 'content-type': 'application/x-ndjson' });
    let received = '';
    stream.on('response', (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        received += text;
      });
    });
    for (let id = 1; id <= 3; id += 1) {
      stream.write(`${JSON.stringify({ id, data: { n: id }, vector: [1, id] })}\n`);
      await expect.poll(() => received).toContain(`"committed":${id}`);
    }
    stream.end();
    await expect.poll(() => received).toContain('"type":"summary"');

    // A request that waits for changes gets them when they happen.
    const feed = JSON.parse((await call('GET', `${database}/changes?after=0`)).bytes.toString());
    const waiting = call('GET', `${database}/changes?after=${feed.position}&wait=60`);
    const text = 'a text that repeats itself, '.repeat(1_000);
    const large = Array.from({ length: 100 }, (_, i) => ({ id: i + 10, data: { text }, vector: [1, i] }));
    const stored = await call('POST', `${database}/records`, JSON.stringify({ records: large }));
    expect(stored.status).toBe(200);
    expect(JSON.parse((await waiting).bytes.toString()).changes.length).toBeGreaterThan(0);

    const page = await call('POST', `${database}/query`, '{"pagination":{"limit":100}}', {
      'accept-encoding': 'gzip',
      'x-request-id': 'given-by-the-client',
      'x-forwarded-for': '203.0.113.9',
    });
    expect(page.headers).toMatchObject({ 'content-encoding': 'gzip', 'x-request-id': 'given-by-the-client' });
    expect(JSON.parse(gunzipSync(page.bytes).toString()).results).toHaveLength(100);

    const described = await call('GET', database);
    const again = await call('GET', database, undefined, {
      'if-none-match': String(described.headers.etag),
    });
    expect([described.status, again.status]).toEqual([200, 304]);

    // The address that the client made up is not taken.
    const [logged] = await command.waitFor('stderr', /^.*given-by-the-client.*"answered".*$/m);
    expect(JSON.parse(logged)).toMatchObject({ client: '127.0.0.2' });
  },
);
