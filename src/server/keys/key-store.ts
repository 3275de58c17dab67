import path from 'node:path';
import { CosiftError } from '../../errors.js';
import type { Action, FilterGroup, IssuedKey, KeyDescription, KeyRequest } from '../../schema/index.js';
import { ACTIONS } from '../../schema/index.js';
import { parseTime } from '../parse-time.js';
import { changeKeys, readIfThere, readKeys, type StoredKey, stampOf, writeSecret } from './key-file.js';
import { hashKey, keyIdOf, makeKey, sameHash } from './key-format.js';

/** Who makes a request, and what they may do. */
export interface Caller {
  readonly keyId: string;
  readonly actions: ReadonlySet<Action>;
  /** undefined: all of them. */
  readonly databases: ReadonlySet<string> | undefined;
  readonly filter: FilterGroup | undefined;
}

interface LiveKey {
  stored: StoredKey;
  hash: Buffer;
  /** Milliseconds since 1970. */
  expiresAt: number;
  caller: Caller;
}

export interface AdminKey {
  key: string;
  /** Whether this start made it, so that it is to be shown. */
  made: boolean;
  file: string;
}

const ADMIN: Caller = { keyId: 'admin', actions: new Set(ACTIONS), databases: undefined, filter: undefined };

/**
 * The keys of a data directory. A revocation is seen as soon as it is durable, whichever process made it: the
 * file is read again when it was replaced.
 */
export class KeyStore {
  readonly #file: string;
  readonly #adminHash: Buffer;
  /** As the file was when `#stamp` was its stamp. */
  #keys = new Map<string, LiveKey>();
  #stamp: string | undefined;
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(dataDirectory: string, adminKey: string) {
    this.#file = path.join(dataDirectory, 'keys.json');
    this.#adminHash = hashKey(adminKey);
    this.#current();
  }

  /** The caller whose key this is; undefined for a key that is unknown, revoked or expired. */
  authenticate(key: string, now = Date.now()): Caller | undefined {
    const hash = hashKey(key);
    if (sameHash(hash, this.#adminHash)) return ADMIN;
    const keyId = keyIdOf(key);
    const found = keyId === undefined ? undefined : this.#current().get(keyId);
    if (found === undefined || !sameHash(hash, found.hash) || now >= found.expiresAt) return undefined;
    return found.caller;
  }

  /** Issues a key that may do no more than its issuer. Durable when it resolves. */
  async issue(request: KeyRequest, issuer: Caller): Promise<IssuedKey> {
    checkRequest(request, issuer);
    const { keyId, key } = makeKey();
    const { name, actions, databases, filter } = request;
    const description: KeyDescription = {
      key_id: keyId,
      name,
      actions,
      databases,
      created_at: new Date().toISOString(),
      ...(request.expires_at !== undefined && { expires_at: expiryOf(request.expires_at) }),
      ...(filter !== undefined && { filter }),
    };
    const stored = { ...description, sha256: hashKey(key).toString('hex') };
    await this.#replace((keys) => keys.set(keyId, live(stored)));
    return { ...description, key };
  }

  /** The keys that `caller` could have issued, oldest first. */
  list(caller: Caller): KeyDescription[] {
    return [...this.#current().values()]
      .filter((key) => covers(caller, key.caller))
      .map(({ stored: { sha256: _, ...description } }) => description);
  }

  /** Revokes a key. Throws `key_not_found` for one that `caller` could not have issued. */
  async revoke(keyId: string, caller: Caller): Promise<void> {
    await this.#replace((keys) => {
      const found = keys.get(keyId);
      if (found === undefined || !covers(caller, found.caller)) {
        throw new CosiftError('key_not_found', `there is no key "${keyId}"`);
      }
      keys.delete(keyId);
    });
  }

  /** One change at a time: each starts from what the one before made durable. */
  async #replace(change: (keys: Map<string, LiveKey>) => void): Promise<void> {
    const write = this.#lastWrite.then(() =>
      changeKeys(this.#file, (stored) => {
        const keys = byId(stored);
        change(keys);
        return [...keys.values()].map((key) => key.stored);
      }),
    );
    // The next change must go on after one that failed.
    this.#lastWrite = write.catch(() => undefined);
    await write;
  }

  #current(): ReadonlyMap<string, LiveKey> {
    // Taken before the file is read: what is written in between shows next time.
    const stamp = stampOf(this.#file);
    if (stamp !== this.#stamp) {
      this.#keys = byId(readKeys(this.#file));
      this.#stamp = stamp;
    }
    return this.#keys;
  }
}

function byId(keys: readonly StoredKey[]): Map<string, LiveKey> {
  return new Map(keys.map((stored) => [stored.key_id, live(stored)]));
}

/** The admin key: `given`, else the one in `admin.key` of the data directory, else a new one kept there. */
export async function adminKey(dataDirectory: string, given: string | undefined): Promise<AdminKey> {
  const file = path.join(dataDirectory, 'admin.key');
  if (given !== undefined) return { key: given, made: false, file };
  const kept = (await readIfThere(file))?.trim();
  if (kept) return { key: kept, made: false, file };
  const { key } = makeKey();
  await writeSecret(file, `${key}\n`);
  return { key, made: true, file };
}

function live(stored: StoredKey): LiveKey {
  const everywhere = stored.databases === '*' || stored.databases.includes('*');
  return {
    stored,
    hash: Buffer.from(stored.sha256, 'hex'),
    expiresAt: stored.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(stored.expires_at),
    caller: {
      keyId: stored.key_id,
      actions: new Set(stored.actions),
      databases: everywhere ? undefined : new Set(stored.databases),
      filter: stored.filter,
    },
  };
}

function covers(issuer: Caller, other: Pick<Caller, 'actions' | 'databases'>): boolean {
  for (const action of other.actions) if (!issuer.actions.has(action)) return false;
  if (issuer.databases === undefined) return true;
  if (other.databases === undefined) return false;
  for (const database of other.databases) if (!issuer.databases.has(database)) return false;
  return true;
}

function checkRequest(request: KeyRequest, issuer: Caller): void {
  if (request.filter !== undefined) {
    const managing = request.actions.find((action) => action.endsWith('.manage'));
    if (managing !== undefined) {
      const detail = `a key with a filter cannot have the action "${managing}"`;
      throw new CosiftError('invalid_request', detail, { problems: [{ pointer: '/actions', detail }] });
    }
  }
  const everywhere = request.databases === '*' || request.databases.includes('*');
  const wanted = {
    actions: new Set(request.actions),
    databases: everywhere ? undefined : new Set(request.databases),
  };
  if (!covers(issuer, wanted)) {
    throw new CosiftError('forbidden', 'a key cannot be given actions or databases that its issuer lacks');
  }
}

function expiryOf(text: string): string {
  const time = parseTime(text);
  const refuse = (detail: string) =>
    new CosiftError('invalid_time', `/expires_at: ${detail}`, {
      problems: [{ pointer: '/expires_at', detail }],
    });
  if (time === undefined) throw refuse('is not an ISO 8601 time');
  if (time <= Date.now()) throw refuse('is in the past');
  return new Date(time).toISOString();
}
