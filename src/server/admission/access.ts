import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DatabaseService, Readiness, Scope } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { DATABASE_ID } from '../../schema/index.js';
import type { Caller } from '../keys/caller.js';
import type { KeyStore } from '../keys/key-store.js';
import { presentedKey } from '../keys/presented-key.js';
import { type Operation, requestsIn } from '../operation.js';
import { type Rate, TokenBuckets } from './token-bucket.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** null for operations that need no key. */
    caller: Caller | null;
    /** The id of the database that the path names, by its id or by an alias. */
    database: string;
  }
}

/** Installs the hooks that authenticate each request and check the rate and the actions of its key. */
export function guardAccess(
  app: FastifyInstance,
  {
    databases: { aliases },
    keys,
    readiness,
  }: { databases: Pick<DatabaseService, 'aliases'>; keys: KeyStore; readiness: () => Readiness },
  rate: Rate | undefined,
): void {
  const limit = rate && { rate, buckets: new TokenBuckets(rate) };
  app.decorateRequest('caller', null);
  app.decorateRequest('database', '');

  app.addHook('onRequest', async (request, reply) => {
    const { operation } = request;
    if (operation === undefined || operation.open) return;
    const caller = await authenticate(keys, request, operation.answersWithoutStore);
    request.caller = caller;
    if (limit !== undefined) takeRate(limit, caller, reply);
    checkActions(operation, caller);
    const { ready, reasons } = readiness();
    if (!ready) throw new CosiftError('not_ready', reasons.join('; '));
    const { id } = request.params as { id?: string };
    if (id === undefined) return;
    const named = operation.createsDatabase || !DATABASE_ID.test(id) ? id : aliases.resolve(id);
    request.database = typeof named === 'string' ? named : await named;
  });

  if (limit !== undefined) {
    app.addHook('preHandler', (request, reply, done) => {
      const requests = requestsIn(request);
      // The first was taken before the body was read.
      if (requests > 1) takeRate(limit, callerOf(request), reply, requests, 1);
      done();
    });
  }

  // The key may have been revoked or have expired while the body arrived or waited to be parsed.
  app.addHook('preHandler', (request, _reply, done) => {
    const { caller } = request;
    if (!request.hasWaitedForBody || caller === null) return done();
    const check = async () => {
      request.caller = valid(await keys.find(caller.keyId));
    };
    check().then(() => done(), done);
  });
}

export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new CosiftError('unauthorized', 'this operation needs a key');
  return request.caller;
}

/** The path of keys under which limits count a request. All requests without a key share the empty path. */
export function payerOf(request: FastifyRequest): string {
  return request.caller?.path ?? '';
}

/** Authenticates and authorises a long request again, because its key may have been revoked or have expired. */
export async function checkKeyAgain(keys: KeyStore, request: FastifyRequest): Promise<void> {
  const { operation } = request;
  const caller = await authenticate(keys, request);
  if (operation !== undefined) checkActions(operation, caller);
  request.caller = caller;
  if ('id' in (request.params as object)) databaseOf(request);
}

/**
 * Returns the id of the database of the path if the caller may see that database. Handlers call this after all other checks
 * of the request, so that responses do not reveal whether a hidden database exists.
 */
export function databaseOf(request: FastifyRequest): string {
  const { id = '' } = request.params as { id?: string };
  if (!DATABASE_ID.test(id)) {
    throw new CosiftError('invalid_request', 'a database id is 1 to 64 of a-z 0-9 _ -');
  }
  const { databases } = callerOf(request);
  if (databases !== undefined && !databases.has(request.database)) throw databaseNotFound(id);
  return request.database;
}

export function scopeOf(request: FastifyRequest): Scope {
  const { path: caller, filter } = callerOf(request);
  return filter === undefined ? { caller } : { caller, forcedFilter: filter };
}

/** Refuses operations that would reveal or change records outside the filter of the key. */
export function refuseFiltered(request: FastifyRequest, what: string): void {
  if (callerOf(request).filter !== undefined) {
    throw new CosiftError('forbidden', `a key with a filter cannot ${what}`);
  }
}

export function sees(caller: Caller, database: string): boolean {
  return caller.databases === undefined || caller.databases.has(database);
}

/** The same error for a database that does not exist and for one that the caller may not see. */
export function databaseNotFound(id: string): CosiftError {
  return new CosiftError('database_not_found', `there is no database "${id}"`);
}

/** The caller, if the request has a valid key. */
export async function findCaller(request: FastifyRequest, keys: KeyStore): Promise<Caller | undefined> {
  const key = presentedKey(request.raw);
  return key === undefined ? undefined : keys.authenticate(key);
}

async function authenticate(
  keys: KeyStore,
  { raw }: FastifyRequest,
  acceptsLastRead = false,
): Promise<Caller> {
  const key = presentedKey(raw);
  if (key === undefined) {
    throw new CosiftError(
      'unauthorized',
      'send a key in the header x-api-key, or in authorization after "Bearer"',
    );
  }
  return valid(await keys.authenticate(key, { acceptsLastRead }));
}

function valid(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new CosiftError('unauthorized', 'the key is not valid');
  return caller;
}

function takeRate(
  { buckets, rate }: { buckets: TokenBuckets; rate: Rate },
  caller: Caller,
  reply: FastifyReply,
  requests = 1,
  taken = 0,
): void {
  const result = buckets.take(caller.path, performance.now(), requests, taken);
  reply.header('ratelimit-policy', `"default";q=${result.quota};w=${rate.windowSeconds}`);
  reply.header('ratelimit', `"default";r=${result.remaining};t=${result.resetSeconds}`);
  if (!result.allowed) {
    throw new CosiftError('rate_limited', `the key may go on in ${result.retrySeconds} s`, {
      fields: { retry_after: result.retrySeconds },
    });
  }
}

/** Refuses a request whose key may not read records. `member` is what asks for more than a search shows. */
export function checkMayRead(request: FastifyRequest, member: string): void {
  if (callerOf(request).actions.has('records.read')) return;
  throw new CosiftError('forbidden', `${member}: the key lacks the action records.read`);
}

function checkActions({ actions }: Operation, caller: Caller): void {
  if (actions === undefined || actions.some((action) => caller.actions.has(action))) return;
  throw new CosiftError('forbidden', `the key lacks the action ${actions.join(' or ')}`);
}
