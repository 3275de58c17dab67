import path from 'node:path';
import { FairLimiter } from '../../async/fair-limiter.js';
import { CosiftError, type Problem, type ProblemCode } from '../../errors.js';
import type { Action, FilterGroup, IssuedKey, KeyDescription, KeyRequest } from '../../schema/index.js';
import { ACTIONS } from '../../schema/index.js';
import { readIfThere, removeTemporaries, writeSecret } from '../files/secret-file.js';
import { changeKeys, prepareKeys, readKeys, type StoredKey, stampOf } from './key-file.js';
import { hashKey, keyIdOf, makeKey, sameHash } from './key-format.js';
import { parseTime } from './parse-time.js';

/** Bytes of all keys as JSON, about 12,000 keys without filters … */
const MAX_BYTES = 4 << 20;

/** … and of those that one key has issued, directly or through others. The admin key has no such limit. */
const MAX_ISSUED_BYTES = 3 << 20;

/** Changes of one key that may wait. */
const MAX_WAITING = 64;

/** Who makes a request, and what they may do. */
export interface Caller {
  readonly keyId: string;
  readonly actions: ReadonlySet<Action>;
  /** undefined: all of them. */
  readonly databases: ReadonlySet<string> | undefined;
  /** Every group of it has a `condition`, so both variants accept it. */
  readonly filter: FilterGroup | undefined;
  /** Milliseconds since 1970; infinite for a key that does not expire. */
  readonly expiresAt: number;
  /** Ids of the keys through which this one was issued. */
  readonly ancestors: readonly string[];
}

interface LiveKey {
  stored: StoredKey;
  hash: Buffer;
  caller: Caller;
}

export interface AdminKey {
  key: string;
  /** Whether this start made it, so that it is to be shown. */
  made: boolean;
  file: string;
}

/** Whoever holds the admin key or can read the data directory. */
export const ADMIN: Caller = {
  keyId: 'admin',
  actions: new Set(ACTIONS),
  databases: undefined,
  filter: undefined,
  expiresAt: Number.POSITIVE_INFINITY,
  ancestors: [],
};

/**
 * The keys of a data directory. A revocation is seen as soon as it is durable, whichever process made it: the
 * file is read again when it was replaced.
 */
export class KeyStore {
  readonly #file: string;
  readonly #adminHash: Buffer;
  /** What the file held when `stamp` was its stamp. */
  #read: { stamp: string | undefined; keys?: ReadonlyMap<string, LiveKey>; error?: unknown } | undefined;
  /** One change of the file at a time. Keys take turns, so that none holds up its own revocation. */
  readonly #changes = new FairLimiter({ total: 1, perCaller: 1, waitingPerCaller: MAX_WAITING });

  constructor(dataDirectory: string, adminKey: string) {
    this.#file = keysFile(dataDirectory);
    this.#adminHash = hashKey(adminKey);
    this.#current();
  }

  /** The store of a service, which is the only one on its directory. Throws `damaged` where its file was changed. */
  static async open(dataDirectory: string, adminKey: string): Promise<KeyStore> {
    await prepareKeys(keysFile(dataDirectory));
    return new KeyStore(dataDirectory, adminKey);
  }

  /**
   * The caller whose key this is; undefined for a key that is unknown, revoked or expired. Throws `damaged` for every
   * key but the admin key while the file cannot be read.
   */
  authenticate(key: string, now = Date.now()): Caller | undefined {
    const hash = hashKey(key);
    if (sameHash(hash, this.#adminHash)) return ADMIN;
    const keyId = keyIdOf(key);
    const found = keyId === undefined ? undefined : this.#current().get(keyId);
    if (found === undefined || !sameHash(hash, found.hash) || now >= found.caller.expiresAt) return undefined;
    return found.caller;
  }

  /**
   * The caller with the key of this id; undefined for a key that is unknown, revoked or expired. Throws `damaged` for
   * every key but the admin key while the file cannot be read.
   */
  find(keyId: string, now = Date.now()): Caller | undefined {
    if (keyId === ADMIN.keyId) return ADMIN;
    const caller = this.#current().get(keyId)?.caller;
    return caller === undefined || now >= caller.expiresAt ? undefined : caller;
  }

  /** Why only the admin key is valid at the moment; undefined while the file can be read. */
  failure(): unknown {
    try {
      this.#current();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /**
   * Issues a key that can do no more than its issuer and ends no later. Durable when it resolves.
   *
   * Throws `forbidden` with a pointer to each member of the request that exceeds the issuer, and `busy` where there is no
   * room for another key.
   */
  async issue(request: KeyRequest, issuer: Caller): Promise<IssuedKey> {
    const { name, actions, databases } = request;
    const filter = joined(issuer.filter, request.filter);
    const expiresAt = request.expires_at === undefined ? issuer.expiresAt : expiryOf(request.expires_at);
    checkFilteredActions(actions, filter);
    checkWithin(issuer, request, expiresAt);
    const { keyId, key } = makeKey();
    const stored: StoredKey = {
      key_id: keyId,
      name,
      actions,
      databases,
      created_at: new Date().toISOString(),
      ...(Number.isFinite(expiresAt) && { expires_at: new Date(expiresAt).toISOString() }),
      ...(filter !== undefined && { filter }),
      ancestors: issuer.keyId === ADMIN.keyId ? [] : [...issuer.ancestors, issuer.keyId],
      sha256: hashKey(key).toString('hex'),
    };
    await this.#replace(issuer, (keys) => {
      makeRoom(keys, stored, issuer);
      keys.set(keyId, live(stored));
    });
    return { ...describe(stored), key };
  }

  /** The keys that `caller` could have issued, oldest first. */
  list(caller: Caller): KeyDescription[] {
    return [...this.#current().values()]
      .filter((key) => reaches(caller, key.caller))
      .map(({ stored }) => describe(stored));
  }

  /**
   * Revokes a key, with `descendants` also those that it issued, directly or through others; these are found after the
   * key itself is gone, too. Throws `key_not_found` for a key that `caller` could not have issued.
   */
  async revoke(keyId: string, caller: Caller, { descendants = false } = {}): Promise<void> {
    await this.#replace(caller, (keys) => {
      const found = keys.get(keyId);
      const revoked = [...keys.values()].filter(
        (key) => key === found || (descendants && key.caller.ancestors.includes(keyId)),
      );
      const reached = revoked.filter((key) => reaches(caller, key.caller));
      if (reached.length === 0 || (found !== undefined && !reached.includes(found))) {
        throw new CosiftError('key_not_found', `there is no key "${keyId}"`);
      }
      for (const { stored } of reached) keys.delete(stored.key_id);
    });
  }

  /**
   * Each change starts from what the one before made durable. Throws `unauthorized` where that was the
   * end of the caller's key.
   */
  async #replace(caller: Caller, change: (keys: Map<string, LiveKey>) => void): Promise<void> {
    await this.#changes.run(caller.keyId, () =>
      changeKeys(this.#file, (stored) => {
        const keys = byId(stored);
        const isValid =
          caller.keyId === ADMIN.keyId || (keys.has(caller.keyId) && Date.now() < caller.expiresAt);
        if (!isValid) throw new CosiftError('unauthorized', 'the key is not valid');
        change(keys);
        return [...keys.values()].map((key) => key.stored);
      }),
    );
  }

  #current(): ReadonlyMap<string, LiveKey> {
    // Taken before the file is read: what is written in between shows next time.
    const stamp = stampOf(this.#file);
    if (this.#read === undefined || this.#read.stamp !== stamp) {
      try {
        this.#read = { stamp, keys: byId(readKeys(this.#file)) };
      } catch (error) {
        // The keys of before may be revoked by now: none is valid until the file can be read.
        this.#read = { stamp, error };
      }
    }
    if (this.#read.keys === undefined) throw this.#read.error;
    return this.#read.keys;
  }
}

function keysFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'keys.json');
}

function byId(keys: readonly StoredKey[]): Map<string, LiveKey> {
  return new Map(keys.map((stored) => [stored.key_id, live(stored)]));
}

/** The admin key: `given`, else the one in `admin.key` of the data directory, else a new one kept there. */
export async function adminKey(dataDirectory: string, given: string | undefined): Promise<AdminKey> {
  const file = path.join(dataDirectory, 'admin.key');
  await removeTemporaries(file);
  if (given !== undefined) return { key: given, made: false, file };
  const kept = (await readIfThere(file))?.trim();
  if (kept) {
    // A key that the service made has a checksum of its own.
    if (kept.startsWith('cosift_') && keyIdOf(kept) === undefined) {
      throw new CosiftError(
        'damaged',
        `${file} is damaged: remove it, and the next start makes a new admin key`,
      );
    }
    return { key: kept, made: false, file };
  }
  const { key } = makeKey();
  await writeSecret(file, `${key}\n`);
  return { key, made: true, file };
}

function live(stored: StoredKey): LiveKey {
  const everywhere = stored.databases === '*' || stored.databases.includes('*');
  return {
    stored,
    hash: Buffer.from(stored.sha256, 'hex'),
    caller: {
      keyId: stored.key_id,
      actions: new Set(stored.actions),
      databases: everywhere ? undefined : new Set(stored.databases),
      filter: stored.filter && withConditions(stored.filter),
      expiresAt: stored.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(stored.expires_at),
      ancestors: stored.ancestors ?? [],
    },
  };
}

/** What may be shown of a key. Keys of earlier releases do not tell who issued them. */
function describe({ sha256: _, ancestors, ...description }: StoredKey): KeyDescription {
  if (ancestors === undefined) return description;
  return { ...description, issued_by: ancestors.at(-1) ?? ADMIN.keyId };
}

/** Whether `caller` could have issued `other`. A key never reaches those through which it was issued itself. */
function reaches(caller: Caller, other: Caller): boolean {
  if (caller.ancestors.includes(other.keyId)) return false;
  if (caller.filter !== undefined && !other.ancestors.includes(caller.keyId)) return false;
  if (other.expiresAt > caller.expiresAt) return false;
  for (const action of other.actions) if (!caller.actions.has(action)) return false;
  if (caller.databases === undefined) return true;
  if (other.databases === undefined) return false;
  for (const database of other.databases) if (!caller.databases.has(database)) return false;
  return true;
}

function checkFilteredActions(actions: readonly Action[], filter: FilterGroup | undefined): void {
  if (filter === undefined) return;
  const managing = actions.findIndex((action) => action.endsWith('.manage'));
  if (managing < 0) return;
  const detail = `a key with a filter cannot have the action "${actions[managing]}"`;
  const problems: Problem[] = [{ pointer: '/actions', code: 'invalid_value', detail }];
  throw new CosiftError('invalid_request', detail, { problems });
}

/**
 * Checks that there is room for one more key, and removes expired keys where there is not. The file is read and written
 * whole for each change, so its length bounds how long other requests wait.
 *
 * Throws `busy`.
 */
function makeRoom(keys: Map<string, LiveKey>, added: StoredKey, issuer: Caller): void {
  const now = Date.now();
  for (const expired of [false, true]) {
    let all = bytesOf(added);
    let ofIssuer = all;
    for (const [keyId, { stored, caller }] of keys) {
      if (expired && now >= caller.expiresAt) {
        keys.delete(keyId);
        continue;
      }
      const bytes = bytesOf(stored);
      all += bytes;
      if (caller.ancestors.includes(issuer.keyId)) ofIssuer += bytes;
    }
    const full = all > MAX_BYTES ? MAX_BYTES : ofIssuer > MAX_ISSUED_BYTES ? MAX_ISSUED_BYTES : undefined;
    if (full === undefined) return;
    if (expired) {
      const whose = full === MAX_BYTES ? 'all keys' : 'the keys that this key has issued';
      throw new CosiftError('busy', `${whose} may take ${full} bytes: revoke keys that nobody needs`);
    }
  }
}

function bytesOf(key: StoredKey): number {
  return Buffer.byteLength(JSON.stringify(key));
}

/** Throws `forbidden` where a request asks for more than its issuer has. */
function checkWithin(issuer: Caller, { actions, databases }: KeyRequest, expiresAt: number): void {
  const problems: Problem[] = [];
  const exceeds = (pointer: string, detail: string) =>
    problems.push({ pointer, code: 'invalid_value', detail });
  for (const [i, action] of actions.entries()) {
    if (!issuer.actions.has(action)) exceeds(`/actions/${i}`, `the issuer lacks the action "${action}"`);
  }
  for (const [i, database] of [databases].flat().entries()) {
    if (issuer.databases === undefined || issuer.databases.has(database)) continue;
    const which = database === '*' ? 'every database' : `the database "${database}"`;
    const pointer = Array.isArray(databases) ? `/databases/${i}` : '/databases';
    exceeds(pointer, `the issuer does not see ${which}`);
  }
  if (expiresAt > issuer.expiresAt) {
    const end = new Date(issuer.expiresAt).toISOString();
    exceeds('/expires_at', `the issuer itself expires earlier, at ${end}`);
  }
  const [first] = problems;
  if (first === undefined) return;
  const detail = `a key cannot do more than its issuer: ${first.pointer}: ${first.detail}`;
  throw new CosiftError('forbidden', detail, { problems });
}

/** Both filters at once, each group with its `condition`. */
function joined(outer: FilterGroup | undefined, inner: FilterGroup | undefined): FilterGroup | undefined {
  const [first, second] = [outer, inner].filter((filter) => filter !== undefined).map(withConditions);
  return second === undefined ? first : { condition: 'AND', rules: [first as FilterGroup, second] };
}

/** The filter with `AND` wherever a condition is absent: variant A requires one, variant B takes it for granted. */
function withConditions(group: FilterGroup): FilterGroup {
  return {
    condition: group.condition ?? 'AND',
    rules: group.rules.map((rule) => ('rules' in rule ? withConditions(rule) : rule)),
  };
}

/** Milliseconds since 1970. */
function expiryOf(text: string): number {
  const time = parseTime(text);
  const refuse = (code: ProblemCode, detail: string) =>
    new CosiftError('invalid_time', `/expires_at: ${detail}`, {
      problems: [{ pointer: '/expires_at', code, detail }],
    });
  if (time === undefined) throw refuse('invalid_time', 'is not an ISO 8601 time');
  if (time <= Date.now()) throw refuse('invalid_value', 'is in the past');
  return time;
}
