import { CosiftVectorStore } from '@cosift/langchain';
import { Document } from '@langchain/core/documents';
import type { EmbeddingsInterface } from '@langchain/core/embeddings';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Database, Databases } from '../../src/api/index.js';
import { equals, isIn } from '../../src/index.js';
import { bothSides } from '../client/both-sides.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';

const sides = bothSides();
const DIMENSIONS = 6;
let databases = 0;

/** The same text has the same vector, another one another. */
const EMBEDDINGS: EmbeddingsInterface = {
  embedQuery: async (text) => {
    const random = new Random(
      [...text].reduce((hash, sign) => (hash * 31 + sign.charCodeAt(0)) % 1_000_003, 7),
    );
    return Array.from({ length: DIMENSIONS }, () => random.below(2_000) / 1_000 - 1);
  },
  embedDocuments: async (texts) => await Promise.all(texts.map((text) => EMBEDDINGS.embedQuery(text))),
};

async function create(side: string, settings: object): Promise<Database> {
  databases += 1;
  return await (sides.get(side) as Databases).createDatabase(`documents-${databases}`, settings);
}

const document = (pageContent: string, metadata: Record<string, unknown> = {}, id?: string) =>
  new Document({ pageContent, metadata, ...(id !== undefined && { id }) });

/** Stores that embed themselves, and stores whose database does. */
const KINDS: Record<string, (side: string) => Promise<CosiftVectorStore>> = {
  'with embeddings': async (side) => {
    const database = await create(side, { dimensions: DIMENSIONS });
    return new CosiftVectorStore(EMBEDDINGS, { database });
  },
  'with the model of the database': async (side) => {
    const database = await create(side, { embed: { columns: ['text'] } });
    return new CosiftVectorStore(undefined, { database });
  },
};

// The cases of the integration tests that LangChain has for vector stores in Python.
describe.each(['library', 'client'])('over the %s', (side) => {
  describe.each(Object.keys(KINDS))('%s', (kind) => {
    let store: CosiftVectorStore;
    beforeEach(async () => {
      store = (await KINDS[kind]?.(side)) as CosiftVectorStore;
    });

    test('an empty store finds nothing', async () => {
      expect(await store.similaritySearch('foo', 1)).toEqual([]);
    });

    test('documents are added, found with their ids, and gone with the next store', async () => {
      const originals = [document('foo', { id: 1 }), document('bar', { id: 2 })];
      const ids = await store.addDocuments(originals);
      const found = await store.similaritySearch('bar', 2);
      expect(found).toEqual([document('bar', { id: 2 }, ids[1]), document('foo', { id: 1 }, ids[0])]);
      // The given documents are left as they were.
      expect(originals).toEqual([document('foo', { id: 1 }), document('bar', { id: 2 })]);
      const other = await KINDS[kind]?.(side);
      expect(await other?.similaritySearch('foo', 1)).toEqual([]);
    });

    test('documents are deleted by their ids', async () => {
      const documents = [document('foo', { id: 1 }), document('bar', { id: 2 }), document('baz', { id: 3 })];
      expect(await store.addDocuments(documents, { ids: ['1', '2', '3'] })).toEqual(['1', '2', '3']);
      await store.delete({ ids: ['1'] });
      const left = await store.similaritySearch('foo', 3);
      expect(left.map(({ id }) => id).sort()).toEqual(['2', '3']);
      await store.delete({ ids: ['2', '3'] });
      expect(await store.similaritySearch('foo', 1)).toEqual([]);
    });

    test('ids that there are not do not matter to a deletion', async () => {
      await store.addDocuments([document('foo', {}, '1')]);
      await store.delete({ ids: ['1000', '2000', '3000'] });
      expect(await store.getByIds(['1'])).toEqual([document('foo', {}, '1')]);
    });

    test('a document with the id of a stored one replaces it', async () => {
      const documents = [document('foo', { id: 1 }), document('bar', { id: 2 })];
      await store.addDocuments(documents, { ids: ['1', '2'] });
      await store.addDocuments(documents, { ids: ['1', '2'] });
      expect(await store.similaritySearch('bar', 3)).toHaveLength(2);
      await store.addDocuments([document('new foo', { some: 'value' }, '1')]);
      expect(await store.getByIds(['1', '2'])).toEqual([
        document('new foo', { some: 'value' }, '1'),
        document('bar', { id: 2 }, '2'),
      ]);
    });

    test('a document without an id gets a new one each time', async () => {
      const first = await store.addDocuments([document('foo'), document('bar', {}, '7')]);
      const second = await store.addDocuments([document('foo')]);
      expect(first[1]).toBe('7');
      expect(new Set([...first, ...second]).size).toBe(3);
      expect(await store.similaritySearch('foo', 5)).toHaveLength(3);
    });

    test('documents are returned by their ids, without those that there are not', async () => {
      await store.addDocuments([document('foo', { id: 1 }, 'a/1'), document('bar', { id: 2 }, 'b 2')]);
      expect(await store.getByIds(['b 2', 'missing', 'a/1'])).toEqual([
        document('bar', { id: 2 }, 'b 2'),
        document('foo', { id: 1 }, 'a/1'),
      ]);
      expect(await store.getByIds(['missing'])).toEqual([]);
    });
  });

  describe('beyond the cases of LangChain', () => {
    const texts = [
      'The Eiffel Tower is a lattice tower in Paris',
      'The Eiffel Tower is a lattice tower in France',
      'Lake Baikal is the deepest lake in the world',
    ];
    let database: Database;
    let store: CosiftVectorStore;
    beforeEach(async () => {
      database = await create(side, { embed: { columns: ['text'] }, lexical: true });
      const metadatas = texts.map((_, n) => ({ n, tags: ['a', 'b'], none: null }));
      store = await CosiftVectorStore.fromTexts(texts, metadatas, undefined, { database });
    });

    test('documents come back as they are, with scores from 0 to 1', async () => {
      const [[found, score] = []] = await store.similaritySearchWithScore('deep water', 1);
      expect(found).toMatchObject({
        pageContent: texts[2],
        metadata: { n: 2, tags: ['a', 'b'], none: null },
      });
      expect(score).toBeGreaterThan(0.2);
      expect(score).toBeLessThanOrEqual(1);
    });

    test('filters and the options of the store hold for searches', async () => {
      const found = await store.similaritySearch('a tower', 4, equals('n', 1));
      expect(found.map(({ metadata }) => metadata.n)).toEqual([1]);
      const strict = new CosiftVectorStore(undefined, { database, search: { lexical: 1, threshold: 0.1 } });
      const exact = await strict.similaritySearch('Baikal', 4);
      expect(exact.map(({ metadata }) => metadata.n)).toEqual([2]);
      const retriever = store.asRetriever({ k: 1, filter: isIn('n', [0, 2]) });
      const [lake] = await retriever.invoke('deep water');
      expect(lake?.pageContent).toBe(texts[2]);
    });

    test('the next document of a diverse search is another one', async () => {
      const near = await store.similaritySearch('a lattice tower', 2);
      const diverse = await store.maxMarginalRelevanceSearch('a lattice tower', { k: 2, lambda: 0.3 });
      expect(diverse.map(({ pageContent }) => pageContent)).toEqual([near[0]?.pageContent, texts[2]]);
      const relevant = await store.maxMarginalRelevanceSearch('a lattice tower', { k: 2, lambda: 1 });
      expect(relevant).toEqual(near);
      const retriever = store.asRetriever({ k: 2, searchType: 'mmr', searchKwargs: { lambda: 0.3 } });
      expect(await retriever.invoke('a lattice tower')).toEqual(diverse);
    });

    test('documents are deleted by a filter', async () => {
      await store.delete({ filter: equals('n', 0) });
      expect(await store.similaritySearch('a tower', 4)).toHaveLength(2);
    });

    test('many documents are found and deleted', async () => {
      const many = new CosiftVectorStore(EMBEDDINGS, {
        database: await create(side, { dimensions: DIMENSIONS }),
      });
      const ids = await many.addDocuments(Array.from({ length: 1_500 }, (_, n) => document(`${n}`)));
      expect(await many.similaritySearch('7', 250)).toHaveLength(250);
      expect(await many.similaritySearch('7', 0)).toEqual([]);
      await many.delete({ ids: ids.slice(0, 1_200) });
      // Each is a request of its own.
      expect(await many.getByIds(inFull(ids, ids.slice(1_100)))).toHaveLength(300);
    });

    test('vectors are added and searched for', async () => {
      const own = await create(side, { dimensions: 2 });
      const vectors = new CosiftVectorStore(EMBEDDINGS, { database: own, textColumn: 'body' });
      await vectors.addVectors(
        [
          [1, 0],
          [0, 1],
        ],
        [document('east'), document('north')],
      );
      const [[north] = []] = await vectors.similaritySearchVectorWithScore([0.1, 1], 1);
      expect(north?.pageContent).toBe('north');
      expect((await own.query()).results.map(({ data }) => data.body).sort()).toEqual(['east', 'north']);
    });

    test('what a record cannot hold, and what does not fit together, is refused', async () => {
      await expect(store.addDocuments([document('a', { text: 'b' })])).rejects.toThrow(
        /documents\[0\].*"text"/,
      );
      await expect(store.addDocuments([document('a'), document('b')], { ids: ['a'] })).rejects.toThrow(
        '1 ids for 2 documents',
      );
      await expect(store.addVectors([[1]], [])).rejects.toThrow('1 vectors for 0 documents');
      const deleted = async () => await store.delete({} as never);
      await expect(deleted()).rejects.toThrow(TypeError);
      await expect(store.addVectors([[1, 2]], [document('a')])).rejects.toMatchObject({
        problems: [{ pointer: expect.stringContaining('/records/0/vector') }],
      });
      await expect(async () => await store.embeddings.embedQuery('a')).rejects.toThrow(
        'the model of the database',
      );
    });
  });
});
