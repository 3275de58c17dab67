import { Document, type DocumentInterface } from '@langchain/core/documents';
import type { EmbeddingsInterface } from '@langchain/core/embeddings';
import { type MaxMarginalRelevanceSearchOptions, VectorStore } from '@langchain/core/vectorstores';
import type { Data, Database, Filter, ScoreOptions, SearchResult, StoredRecord } from '../api/index.js';

const PAGE_LIMIT = 100;
const MAX_DELETES = 1_000;

/** What the store needs of a database, of the library or of the client. */
// biome-ignore lint/suspicious/noExplicitAny: documents are kept in databases of any columns
export type DocumentDatabase = Pick<Database<any>, 'upsert' | 'delete' | 'getMany' | 'searchAll'>;

/** The options of a {@link CosiftVectorStore}. */
export interface CosiftVectorStoreOptions {
  /** The database of the documents. Without embeddings, it has a model and embeds the column of the text. */
  database: DocumentDatabase;
  /** The column of the text. Default: `text`. The metadata is in the other columns. */
  textColumn?: string | undefined;
  /** How every search scores, and its threshold. Default: `{ threshold: 0 }`, with which a search has `k` results. */
  search?: ScoreOptions<Data> | undefined;
}

/** The documents to delete: those with these ids, or those that the filter selects. */
export type DeleteParameters = { ids: string[] } | { filter: Filter };

type Found = SearchResult<Data>;
type Query = string | { vector: number[] };

/** Stands for embeddings where the database has a model. */
const OF_DATABASE: EmbeddingsInterface = {
  embedQuery: () => refuseToEmbed(),
  embedDocuments: () => refuseToEmbed(),
};

/**
 * The documents of a database. The id of a document is the `key` of its record, its text is in one column, and its metadata in
 * the others: texts, numbers, booleans, null, and lists of them.
 *
 * Without embeddings, the model of the database embeds texts and searches. With embeddings, the database has the `dimensions` of
 * their vectors.
 */
export class CosiftVectorStore extends VectorStore {
  declare FilterType: Filter;
  readonly #database: DocumentDatabase;
  readonly #textColumn: string;
  readonly #search: ScoreOptions<Data>;

  constructor(embeddings: EmbeddingsInterface | undefined, options: CosiftVectorStoreOptions) {
    super(embeddings ?? OF_DATABASE, {});
    this.#database = options.database;
    this.#textColumn = options.textColumn ?? 'text';
    this.#search = { threshold: 0, ...options.search };
  }

  /** Returns a store with the texts. `metadatas` is one for all of them, or one for each. */
  static override async fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: EmbeddingsInterface | undefined,
    options: CosiftVectorStoreOptions,
  ): Promise<CosiftVectorStore> {
    const metadataOf = (at: number) => (Array.isArray(metadatas) ? metadatas[at] : metadatas);
    const documents = texts.map((pageContent, at) => new Document({ pageContent, metadata: metadataOf(at) }));
    return await CosiftVectorStore.fromDocuments(documents, embeddings, options);
  }

  /** Returns a store with the documents. */
  static override async fromDocuments(
    documents: DocumentInterface[],
    embeddings: EmbeddingsInterface | undefined,
    options: CosiftVectorStoreOptions,
  ): Promise<CosiftVectorStore> {
    const store = new CosiftVectorStore(embeddings, options);
    await store.addDocuments(documents);
    return store;
  }

  _vectorstoreType(): string {
    return 'cosift';
  }

  /**
   * Writes documents. One with the id of a stored document replaces it; one without an id gets a new one.
   *
   * @returns Their ids.
   */
  override async addDocuments(
    documents: DocumentInterface[],
    options: { ids?: string[] } = {},
  ): Promise<string[]> {
    if (this.embeddings === OF_DATABASE) return await this.#write(documents, options.ids);
    const texts = documents.map(({ pageContent }) => pageContent);
    return await this.addVectors(await this.embeddings.embedDocuments(texts), documents, options);
  }

  /** As {@link addDocuments}, with the vectors of the documents. */
  override async addVectors(
    vectors: number[][],
    documents: DocumentInterface[],
    options: { ids?: string[] } = {},
  ): Promise<string[]> {
    checkLength(vectors, 'vectors', documents);
    return await this.#write(documents, options.ids, vectors);
  }

  /** Deletes documents. Ids that there are not do not matter. */
  override async delete(parameters: DeleteParameters): Promise<void> {
    if ('filter' in parameters) {
      await this.#database.delete({ filter: parameters.filter });
      return;
    }
    const keys = parameters.ids.map(keyOf);
    for (let at = 0; at < keys.length; at += MAX_DELETES) {
      await this.#database.delete({ ids: keys.slice(at, at + MAX_DELETES) });
    }
  }

  /** Returns the documents with these ids, in their order. Ids that there are not are left out. */
  async getByIds(ids: string[]): Promise<Document[]> {
    const records = await this.#database.getMany(ids.map(keyOf));
    return records.flatMap((record) => (record === undefined ? [] : [this.#documentOf(record)]));
  }

  override async similaritySearch(query: string, k = 4, filter?: Filter): Promise<Document[]> {
    const found = await this.similaritySearchWithScore(query, k, filter);
    return found.map(([document]) => document);
  }

  /** Returns the most relevant documents with their scores, which are from 0 to 1. */
  override async similaritySearchWithScore(
    query: string,
    k = 4,
    filter?: Filter,
  ): Promise<[Document, number][]> {
    return this.#scored(await this.#found(await this.#query(query), k, filter));
  }

  /** As {@link similaritySearchWithScore}, with the vector of the search. */
  override async similaritySearchVectorWithScore(
    vector: number[],
    k: number,
    filter?: Filter,
  ): Promise<[Document, number][]> {
    return this.#scored(await this.#found({ vector }, k, filter));
  }

  /**
   * Chooses `k` of the `fetchK` most relevant documents (default: 20), each for its relevance and against its similarity to those
   * chosen before. The larger `lambda`, from 0 to 1 (default: 0.5), the more the relevance counts.
   */
  override async maxMarginalRelevanceSearch(
    query: string,
    { k, fetchK = 20, lambda = 0.5, filter }: MaxMarginalRelevanceSearchOptions<Filter>,
  ): Promise<Document[]> {
    const left = (await this.#found(await this.#query(query), fetchK, filter, { vectors: true })).map(
      (result) => ({ result, vectors: vectorsOf(result), similarity: 0 }),
    );
    const chosen: Document[] = [];
    while (left.length > 0 && chosen.length < k) {
      const gains = left.map(({ result, similarity }) => {
        return lambda * result.relevance_score - (1 - lambda) * similarity;
      });
      const [best] = left.splice(gains.indexOf(Math.max(...gains)), 1);
      if (best === undefined) break;
      chosen.push(this.#documentOf(best.result));
      for (const other of left) other.similarity = Math.max(other.similarity, similarityOf(best, other));
    }
    return chosen;
  }

  async #write(documents: DocumentInterface[], given: string[] | undefined, vectors?: number[][]) {
    if (given !== undefined) checkLength(given, 'ids', documents);
    const ids = documents.map(({ id }, at) => given?.[at] ?? id ?? crypto.randomUUID());
    const records = documents.map(({ pageContent, metadata }, at) => {
      if (Object.hasOwn(metadata ?? {}, this.#textColumn)) {
        throw new TypeError(
          `documents[${at}]: the metadata has "${this.#textColumn}", which is the column of the text: give another "textColumn"`,
        );
      }
      const data = { [this.#textColumn]: pageContent, ...metadata };
      return { key: ids[at], data, ...(vectors && { vector: vectors[at] }) };
    });
    await this.#database.upsert(records);
    return ids;
  }

  async #query(text: string): Promise<Query> {
    return this.embeddings === OF_DATABASE ? text : { vector: await this.embeddings.embedQuery(text) };
  }

  async #found(query: Query, k: number, filter?: Filter, options?: { vectors: true }): Promise<Found[]> {
    const found: Found[] = [];
    if (k < 1) return found;
    const limit = Math.min(k, PAGE_LIMIT);
    const results = this.#database.searchAll(query, { ...this.#search, ...options, filter, limit });
    for await (const result of results) {
      found.push(result as Found);
      if (found.length >= k) break;
    }
    return found;
  }

  #scored(found: Found[]): [Document, number][] {
    return found.map((result) => [this.#documentOf(result), result.relevance_score]);
  }

  #documentOf({ key, uuid, data }: StoredRecord<Data>): Document {
    const { [this.#textColumn]: text, ...metadata } = data;
    return new Document({ id: key ?? uuid, pageContent: typeof text === 'string' ? text : '', metadata });
  }
}

function refuseToEmbed(): never {
  throw new TypeError('the model of the database embeds: give the store embeddings, or search with a text');
}

function checkLength(values: readonly unknown[], what: string, documents: readonly unknown[]): void {
  if (values.length !== documents.length) {
    throw new TypeError(`there are ${values.length} ${what} for ${documents.length} documents`);
  }
}

function keyOf(id: string): string {
  return `key:${id}`;
}

interface WithVectors {
  vectors: readonly (readonly number[])[];
}

/** The cosine of the most similar passages. */
function similarityOf(one: WithVectors, other: WithVectors): number {
  return Math.max(...one.vectors.flatMap((a) => other.vectors.map((b) => dot(a, b))));
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, component, at) => sum + component * (b[at] ?? 0), 0);
}

function vectorsOf({ vector, passages }: Found): readonly (readonly number[])[] {
  return passages?.map((passage) => passage.vector) ?? [vector ?? []];
}
