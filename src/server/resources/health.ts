import { rationed } from '../../async/rationed.js';
import { within } from '../../async/sleep.js';
import { isCode } from '../../errors.js';
import { findCaller, sees } from '../admission/access.js';
import type { Resource } from './resource.js';

/** Milliseconds that readiness waits for the store and the keys. A probe waits for seconds only. */
const READY_MS = 2_000;

export const HEALTH: Resource = {
  livez: {
    method: 'GET',
    path: '/livez',
    tag: 'Service',
    summary: 'Whether the process is alive',
    open: true,
    success: [{ status: 200, description: 'Alive', schema: 'Health' }],
    handler: () => async () => {
      return { status: 'ok' };
    },
  },
  readyz: {
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Whether models and databases are ready',
    open: true,
    success: [
      { status: 200, description: 'Ready', schema: 'Health' },
      { status: 503, description: 'Not ready, and why', schema: 'Health' },
    ],
    handler: ({ databases, readiness, keys, inFlight }) => {
      /** The databases, or why the store cannot tell; and whether the keys can be read in time. Any client may ask for this. */
      const readState = rationed(async () => {
        const late = AbortSignal.timeout(READY_MS);
        const [states, isReadable = false] = await Promise.all([
          databases.monitor.states(late).catch((error) => {
            if (isCode(error, 'store_failed')) return 'the store cannot be reached';
            if (late.aborted || isCode(error, 'timed_out')) return 'the store does not answer';
            throw error;
          }),
          within(
            READY_MS,
            keys.failure().then((failure) => failure === undefined),
          ),
        ]);
        return { states, isReadable };
      });

      return async (request, reply) => {
        const isStopping = () => inFlight.closing.aborted;
        const state = isStopping()
          ? undefined
          : await Promise.all([
              readState(),
              // Unreadable keys give no caller, because they must not make the service unready.
              within(READY_MS, findCaller(request, keys)).catch(() => undefined),
            ]);
        // The server may have begun to stop, or become ready, while the store was asked.
        if (state === undefined || isStopping()) {
          return reply.code(503).send({ status: 'not_ready', reasons: ['the server is stopping'] });
        }
        const [{ states, isReadable }, caller] = state;
        const { ready, reasons } = readiness();
        if (typeof states === 'string') {
          reply.header('retry-after', '1');
          return reply.code(503).send({ status: 'not_ready', reasons: [states] });
        }
        // This operation needs no key, so only callers that may see a database get its name.
        const problems = states.flatMap(({ id, loaded, writable, problem }) => {
          const name = caller !== undefined && sees(caller, id) ? `database "${id}"` : 'a database';
          if (problem?.code === 'drop_failed') return [`${name} could not be dropped: drop it again`];
          if (problem?.code === 'no_answer') return [`${name} does not answer`];
          if (problem !== undefined) return [`${name} could not be opened (${problem.code})`];
          return loaded && !writable ? [`${name} refuses writes until the next start`] : [];
        });
        if (!isReadable) problems.push('the keys cannot be read: only the admin key is valid');
        if (ready) return { status: 'ok', ...(problems.length > 0 && { reasons: problems }) };
        const progress = {
          databases: states.length,
          loaded: states.filter(({ loaded }) => loaded).length,
          records: states.reduce((sum, { records }) => sum + records, 0),
        };
        reply.header('retry-after', '1');
        return reply.code(503).send({ status: 'not_ready', reasons: [...reasons, ...problems], progress });
      };
    },
  },
};
