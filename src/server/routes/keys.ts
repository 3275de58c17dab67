import { checkKeyRequest } from '../../schema/index.js';
import { callerOf } from '../admission/access.js';
import type { Values } from '../http/query-parameters.js';
import type { REVOKE_QUERY } from '../operations/keys.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function keyHandlers({ keys, limits }: Dependencies): Handlers {
  return {
    async issueKey(request, reply) {
      const wanted = checkKeyRequest(request.body, limits);
      return reply.code(201).send(await keys.issue(wanted, callerOf(request)));
    },

    async listKeys(request) {
      return { keys: await keys.list(callerOf(request)) };
    },

    async readOwnKey(request) {
      const { keyId, name, actions, databases, expiresAt, filter } = callerOf(request);
      return {
        key_id: keyId,
        name,
        actions: [...actions],
        databases: databases === undefined ? '*' : [...databases],
        ...(Number.isFinite(expiresAt) && { expires_at: new Date(expiresAt).toISOString() }),
        filtered: filter !== undefined,
      };
    },

    async revokeKey(request, reply) {
      const { key_id } = request.params as { key_id: string };
      await keys.revoke(key_id, callerOf(request), request.query as Values<typeof REVOKE_QUERY>);
      return reply.code(204).send();
    },
  };
}
