import { type FileKind, parseChecked, writeChecked } from '../../files/checked-file.js';
import { readIfExists, removeTemporaries } from '../../files/secret-file.js';
import { checkSchema, DATABASE_ID, EPOCH } from '../../schema/index.js';
import type { StoredWebhook } from './stored-webhook.js';

/** The content of `webhooks.json`. */
export const WEBHOOKS_FILE: FileKind<StoredWebhook> = {
  member: 'webhooks',
  check: checkStored,
  repair: 'put a sound copy in its place, or remove it and create the webhooks again',
};

/**
 * Returns the stored webhooks; none when there is no file. Removes the temporary files of killed processes.
 *
 * @throws {CosiftError} `damaged` when the file was changed by another program.
 */
export async function readWebhooks(file: string): Promise<StoredWebhook[]> {
  await removeTemporaries(file);
  const text = await readIfExists(file);
  if (text === undefined) return [];
  return parseChecked(file, text, WEBHOOKS_FILE);
}

/** Replaces the stored webhooks durably. */
export function writeWebhooks(file: string, webhooks: readonly StoredWebhook[]): Promise<void> {
  return writeChecked(file, webhooks, WEBHOOKS_FILE);
}

function checkStored(value: unknown): StoredWebhook {
  const { database, secret, epoch, feed, counted_for, restarts = 0, ...described } = value as StoredWebhook;
  checkSchema('WebhookDescription', { ...described, failures: 0 });
  if (typeof database !== 'string' || !DATABASE_ID.test(database))
    throw new Error('a database has no valid id');
  if (!/^whsec_[0-9A-Za-z+/]{43}=$/.test(secret)) throw new Error('a secret has the wrong form');
  if (typeof counted_for !== 'string') throw new Error('a key has no valid id');
  for (const text of [epoch, feed]) {
    if (text !== undefined && !EPOCH.test(text)) throw new Error('an epoch has the wrong form');
  }
  if (!Number.isSafeInteger(restarts) || restarts < 0) throw new Error('a count of restarts is not valid');
  return value as StoredWebhook;
}
