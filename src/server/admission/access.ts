import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Readiness, Scope } from '../../backend/backend.js';
import { CosiftError } from '../../errors.js';
import { DATABASE_ID } from '../../schema/index.js';
import type { Caller } from '../keys/caller.js';
import type { KeyStore } from '../keys/key-store.js';
import type { Operation } from '../operations/operation.js';
import { type Rate, TokenBuckets } from './token-bucket.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** null on operations that need no key. */
    caller: Caller | null;
  }
}

/** Who may do what, and how often: a key, its rate, its actions, its databases. */
export function guardAccess(
  app: FastifyInstance,
  { keys, readiness }: { keys: KeyStore; readiness: () => Promise<Readiness> },
  rate: Rate | undefined,
): void {
  const buckets = rate && new TokenBuckets(rate);
  const policy = rate && `"default";q=${rate.quota};w=${rate.windowSeconds}`;
  app.decorateRequest('caller', null);

  app.addHook('onRequest', async (request, reply) => {
    const { operation } = request.routeOptions.config;
    if (operation === undefined || operation.open) return;
    const caller = await authenticate(keys, request);
    request.caller = caller;
    if (buckets !== undefined && policy !== undefined) takeRate(buckets, policy, caller, reply);
    checkActions(operation, caller);
    const { ready, reasons } = await readiness();
    if (!ready) throw new CosiftError('not_ready', reasons.join('; '));
  });

  // A body may take a while: a key that was revoked or has expired meanwhile does nothing more.
  app.addHook('preHandler', async (request) => {
    if (request.routeOptions.config.operation?.body !== undefined)
      request.caller = await authenticate(keys, request);
  });
}

export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new CosiftError('unauthorized', 'this operation needs a key');
  return request.caller;
}

/** Whom limits count a request for: its key, or all callers without one. */
export function keyOf(request: FastifyRequest): string {
  return request.caller?.keyId ?? '';
}

/** Refuses what a request goes on to do when its key has been revoked, or has expired, since the request came. */
export async function checkKeyAgain(keys: KeyStore, request: FastifyRequest): Promise<void> {
  const { operation } = request.routeOptions.config;
  const caller = await authenticate(keys, request);
  if (operation !== undefined) checkActions(operation, caller);
  request.caller = caller;
  if ('id' in (request.params as object)) databaseOf(request);
}

/**
 * The database of the path, if the caller sees it. Handlers ask for it last, when the rest of the request is
 * known to be sound: an absent and a hidden database then answer alike whatever else was sent.
 */
export function databaseOf(request: FastifyRequest): string {
  const { id = '' } = request.params as { id?: string };
  if (!DATABASE_ID.test(id)) {
    throw new CosiftError('invalid_request', 'a database id is 1 to 64 of a-z 0-9 _ -');
  }
  const { databases } = callerOf(request);
  if (databases !== undefined && !databases.has(id)) throw databaseNotFound(id);
  return id;
}

export function scopeOf(request: FastifyRequest): Scope {
  const { keyId: caller, filter } = callerOf(request);
  return filter === undefined ? { caller } : { caller, forcedFilter: filter };
}

/** Refuses what would show or change records outside the filter of a key. */
export function refuseFiltered(request: FastifyRequest, what: string): void {
  if (callerOf(request).filter !== undefined) {
    throw new CosiftError('forbidden', `a key with a filter cannot ${what}`);
  }
}

export function sees(caller: Caller, database: string): boolean {
  return caller.databases === undefined || caller.databases.has(database);
}

/** The same words as for a database that does not exist. */
export function databaseNotFound(id: string): CosiftError {
  return new CosiftError('database_not_found', `there is no database "${id}"`);
}

/** Who sent the request, if it came with a key that is valid. */
export async function keyIn(request: FastifyRequest, keys: KeyStore): Promise<Caller | undefined> {
  const key = request.headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? keys.authenticate(key) : undefined;
}

async function authenticate(keys: KeyStore, request: FastifyRequest): Promise<Caller> {
  const caller = await keyIn(request, keys);
  if (caller === undefined && !request.headers['x-api-key']) {
    throw new CosiftError('unauthorized', 'send a key in the header x-api-key');
  }
  if (caller === undefined) throw new CosiftError('unauthorized', 'the key is not valid');
  return caller;
}

function takeRate(buckets: TokenBuckets, policy: string, caller: Caller, reply: FastifyReply): void {
  const taken = buckets.take(caller.keyId, performance.now());
  reply.header('ratelimit-policy', policy);
  reply.header('ratelimit', `"default";r=${taken.remaining};t=${taken.resetSeconds}`);
  if (!taken.allowed) {
    throw new CosiftError('rate_limited', `the key may go on in ${taken.retrySeconds} s`, {
      fields: { retry_after: taken.retrySeconds },
    });
  }
}

function checkActions({ actions }: Operation, caller: Caller): void {
  if (actions === undefined || actions.some((action) => caller.actions.has(action))) return;
  throw new CosiftError('forbidden', `the key lacks the action ${actions.join(' or ')}`);
}
