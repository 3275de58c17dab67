import { expect } from 'vitest';
import { CosiftError } from '../../src/errors.js';
import type { Bookmark, SourceShape, SyncSource } from '../../src/sync/source.js';

/** What a pass found. */
export interface Pass {
  kind: 'complete' | 'changes' | 'keys';
  /** Rows that were read. */
  read: number;
  /** Rows that were new or differed. */
  written: number;
  deleted: number;
  /** Keys of rows that were in no batch. */
  unknown: number;
  /** Whether all keys were compared. */
  comparedKeys: boolean;
}

/** A copy of a source in memory: what the pipeline of a sync does, without a database. */
export class Follower {
  readonly #source: SyncSource;
  readonly records = new Map<string, string>();
  readonly refused = new Map<string, string>();
  bookmark: Bookmark | null = null;

  constructor(source: SyncSource) {
    this.#source = source;
  }

  /** Reads a round; undefined if nothing has changed. */
  async pass(whole = false, signal = new AbortController().signal): Promise<Pass | undefined> {
    const round = await this.#source.round(this.bookmark, whole || this.bookmark === null, signal);
    if (round === null) return undefined;
    const pass: Pass = { kind: round.kind, read: 0, written: 0, deleted: 0, unknown: 0, comparedKeys: false };
    const seen = new Set<string>();
    const remove = (key: string) => {
      if (this.records.delete(key)) pass.deleted += 1;
      this.refused.delete(key);
    };
    try {
      for await (const { rows, refused = [], gone = [] } of round.batches) {
        pass.read += rows.length;
        for (const { key, ...row } of rows) {
          const text = JSON.stringify(row);
          pass.written += Number(this.records.get(key) !== text);
          this.records.set(key, text);
          this.refused.delete(key);
          seen.add(key);
        }
        for (const { key, reason } of refused) {
          remove(key);
          this.refused.set(key, reason);
          seen.add(key);
        }
        for (const key of gone) remove(key);
      }
      const known = () => [...this.records.keys(), ...this.refused.keys()];
      if (round.kind === 'complete') for (const key of known()) if (!seen.has(key)) remove(key);
      if (round.keys !== undefined && round.count?.() !== known().length) {
        pass.comparedKeys = true;
        const all = new Set<string>();
        let last = Buffer.alloc(0);
        for await (const keys of round.keys) {
          for (const key of keys) {
            const bytes = Buffer.from(key);
            if (last.compare(bytes) >= 0) throw new Error(`${key} is not in the order of bytes`);
            pass.unknown += Number(!this.records.has(key) && !this.refused.has(key));
            all.add(key);
            last = bytes;
          }
        }
        for (const key of known()) if (!all.has(key)) remove(key);
      }
      this.bookmark = round.bookmark();
    } finally {
      await round.close();
    }
    return pass;
  }
}

/** The data of the records by their keys. */
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came
export const dataIn = (follower: Follower): Record<string, any> =>
  Object.fromEntries([...follower.records].map(([key, text]) => [key, JSON.parse(text).data]));

/** Opens sources, and closes them together. */
export function openedBy<A extends unknown[], S extends SyncSource>(open: (...given: A) => S) {
  const opened: S[] = [];
  const sourceOf = (...given: A): S => {
    const source = open(...given);
    opened.push(source);
    return source;
  };
  const shapeOf = (...given: A): Promise<SourceShape> =>
    sourceOf(...given).shape(new AbortController().signal);
  return {
    sourceOf,
    shapeOf,
    follow: (...given: A) => new Follower(sourceOf(...given)),
    /** The error with which a source is refused. */
    failure: async (...given: A) => {
      const error = await shapeOf(...given).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(CosiftError);
      const { code, message } = error as CosiftError;
      return { code, message };
    },
    close: () => Promise.all(opened.splice(0).map((source) => source.close())),
  };
}
