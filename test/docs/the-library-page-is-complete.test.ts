import { expect, test } from 'vitest';
import { aiExports, clientExports, libraryExports } from '../../scripts/docs/library/index.js';
import * as ai from '../../src/ai/index.js';
import * as client from '../../src/client/index.js';
import * as library from '../../src/index.js';
import { OPTIONS } from '../../src/schema/options.js';
import { Page } from './pages.js';

const page = new Page('library.md');
const exports = new Map([...libraryExports(), ...clientExports(), ...aiExports()]);

test('every export has a chapter, and every chapter is an export or a method', () => {
  expect(exports.size).toBeGreaterThan(40);
  expect(libraryExports().size).toBeLessThanOrEqual(100);
  for (const name of [...Object.keys(library), ...Object.keys(client), ...Object.keys(ai)])
    expect([...exports.keys()]).toContain(name);
  expect(page.headings(3).sort()).toEqual([...exports.keys()].sort());
  // Anchors have no capitals.
  const anchors = page.headings(3).map((name) => name.toLowerCase());
  expect(anchors).toEqual([...new Set(anchors)]);
  const methods = [...exports.values()].flatMap(({ name, members }) =>
    members
      .filter(({ kind }) => kind === 'method')
      .map((method) => (method.name === 'constructor' ? `new ${name}` : `${name}.${method.name}`)),
  );
  expect(page.headings(4).filter((heading) => !methods.includes(heading))).toEqual([]);
});

test('every member of an export is in its chapter or in that of a parent', () => {
  for (const { name, members, parents } of exports.values()) {
    const chapters = [name, ...parents].map((owner) => page.chapter(owner)).join('\n');
    for (const member of members.filter((one) => one.name !== 'Symbol.asyncDispose')) {
      const heading = [name, ...parents].some((owner) => chapters.includes(`#### ${owner}.${member.name}\n`));
      const isThere =
        heading ||
        chapters.includes(`| \`${member.name}\` |`) ||
        chapters.includes(`| \`${member.name}?\` |`);
      expect(isThere || chapters.includes(`#### new ${name}`), `${name}.${member.name}`).toBe(true);
    }
  }
});

test('every export and every member has a doc comment', () => {
  const lacking = [...exports.values()].flatMap(({ name, doc, members, parents }) => [
    ...(doc === undefined ? [name] : []),
    ...members
      .filter((member) => member.doc === undefined && member.name !== 'Symbol.asyncDispose')
      .filter(
        (member) =>
          !parents.some((parent) => exports.get(parent)?.members.some((one) => one.name === member.name)),
      )
      .map((member) => `${name}.${member.name}`),
  ]);
  expect(lacking).toEqual([]);
});

test('every option that a call checks is in the chapter of the call or of its options', () => {
  const chapters: Record<string, string> = {
    directory: 'open',
    open: 'OpenOptions',
    store: 'open',
    openStore: 'OpenOptions',
    database: 'Databases.database',
    alias: 'Databases.setAlias',
    aliasName: 'Databases.deleteAlias',
    record: 'Database.get',
    records: 'Database.getMany',
    batchSearch: 'Database.searchMany',
    call: 'CallOptions',
    embed: 'Databases.embed',
    model: 'Database.reembed',
    patch: 'Database.patch',
    replace: 'Database.replaceAll',
    changes: 'ChangesRequest',
    client: 'ClientOptions',
    named: 'Client.revokeKey',
    revocation: 'Client.revokeKey',
  };
  const inherited = ['CallOptions', 'SelectOptions', 'PageOptions', 'ScoreOptions', 'SearchOptions']
    .map((name) => page.chapter(name))
    .join('');
  for (const [call, options] of Object.entries(OPTIONS)) {
    const name = chapters[call] ?? `${call.charAt(0).toUpperCase()}${call.slice(1)}Options`;
    const text = call === 'follow' ? page.chapter('ChangesRequest') : page.chapter(name);
    expect(text, `${call}: there is no chapter ${name}`).not.toBe('');
    for (const option of Object.keys(options)) {
      expect(text + inherited, `${call}: ${option}`).toMatch(new RegExp(`\\b${option}\\b`));
    }
  }
});
