import { CosiftError } from '../../errors.js';
import { checkKeyRequest } from '../../schema/index.js';
import { callerOf } from '../admission/access.js';
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
      await keys.revoke(key_id, callerOf(request), { descendants: descendantsOf(request.query) });
      return reply.code(204).send();
    },
  };
}

/** The query parameter `descendants`. */
function descendantsOf(query: unknown): boolean {
  const { descendants = 'false' } = query as { descendants?: string };
  if (descendants === 'true' || descendants === 'false') return descendants === 'true';
  throw new CosiftError('invalid_request', 'the query parameter "descendants" must be "true" or "false"');
}
