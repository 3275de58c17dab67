import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { fan, Service } from '../server/service.js';

const page = readFileSync(new URL('../../docs/reference/files.md', import.meta.url), 'utf8');
const chapter = (title: string) => page.split(/^## /m).find((text) => text.startsWith(title)) ?? '';
const named = (text: string) =>
  [...text.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string),
  );

let service: Service | undefined;
afterEach(() => service?.stop());

test('every file of a data directory is on the page, and every file of the page exists', async () => {
  service = await Service.start({ embedWorkers: 1 });
  const { directory } = service;
  const paths = () => readdirSync(directory, { recursive: true }) as string[];

  await service.call('PUT', '/v1/databases/fan', { dimensions: 2, formats: { number: '0.00' } });
  await service.call('PUT', '/v1/aliases/other', { database: 'fan' });
  for (let first = 0; first < 10_000; first += 1_000) {
    const records = fan(1_000).map((record) => ({ ...record, id: first + record.id }));
    await service.call('POST', '/v1/databases/fan/records', { records });
  }
  await service.call('POST', '/v1/keys', { name: 'k', actions: ['search'], databases: ['fan'] });
  await service.call('POST', '/v1/databases/fan/webhooks', { url: 'https://example.org/hook' });
  // The log of SQLite and its index exist while the database is open.
  const whileOpen = paths();
  await service.running.close();

  const found = new Set(
    [...whileOpen, ...paths()].map((path) =>
      path.replace(/^databases\/fan/, 'databases/ID').replace(/\/\d+\./, '/N.'),
    ),
  );
  const lasting = named(chapter('Data directory'));
  const temporary = named(chapter('Temporary files'));
  expect([...found].filter((path) => ![...lasting, ...temporary].includes(path))).toEqual([]);
  // The replaced log exists only after a file was replaced, and "next" only before the switch of a re-embedding.
  // Models are copied by `cosift model add`, the demo is stored by `cosift serve --demo`.
  const rare = [
    'databases/ID/next',
    'databases/ID/records.sqlite-wal.replaced',
    'demo.sha256',
    'models/NAME',
  ];
  expect(lasting.filter((path) => !found.has(path)).sort()).toEqual(rare);
});

test('every temporary file of the page is made by the sources', () => {
  const sources = [
    'crates/engine/src/disk/directories.rs',
    'crates/engine/src/store/paths.rs',
    'crates/engine/src/disk/parts_writer.rs',
    'src/files/secret-file.ts',
    'src/cli/migrate/directory-endpoint.ts',
    'src/store/archive/manifest.ts',
    'src/store/local/temporary-copy.ts',
  ]
    .map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
    .join('');
  const names = named(chapter('Temporary files'));
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const mark = /\.(new|dropped)-|new$|tmp$|^\.(backup|restore)$|^migration\.json$/.exec(name)?.[0];
    expect(mark, name).toBeDefined();
    expect(sources, name).toContain(mark);
  }
});
