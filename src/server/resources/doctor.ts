import { CosiftError } from '../../errors.js';
import type { DoctorCheck } from '../../schema/index.js';
import { callerOf, sees } from '../admission/access.js';
import { NDJSON, sendStream } from '../http/streamed-response.js';
import type { Caller } from '../keys/caller.js';
import type { Resource } from './resource.js';

export const DOCTOR: Resource = {
  doctor: {
    method: 'POST',
    path: '/v1/doctor',
    tag: 'Service',
    summary: 'Check the databases completely',
    description:
      'Reads every record of every database that the key may see, while these are served, and changes nothing. ' +
      'Each line of the response is the outcome of one check. The last line has the member `error` if the checks ' +
      'could not be completed.',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'A `DoctorCheck` per line', type: 'application/x-ndjson' }],
    errors: ['busy'],
    handler: ({ databases, keys, inFlight }) => {
      // One request at a time is served, because it reads every record.
      let isRunning = false;

      async function* checks(caller: Caller, signal: AbortSignal): AsyncGenerator<DoctorCheck> {
        if (isRunning) throw new CosiftError('busy', 'the doctor is running for another request');
        isRunning = true;
        try {
          const failure = await keys.failure();
          yield failure === undefined
            ? { check: 'keys', status: 'ok', detail: 'the keys can be read' }
            : {
                check: 'keys',
                status: 'problem',
                detail: 'the keys cannot be read: only the admin key is valid',
                problems: [{ detail: 'the keys cannot be read' }],
                advice: 'put a sound copy of keys.json in its place, or remove it and issue the keys again',
              };
          const ids = (await databases.monitor.states(signal))
            .map(({ id }) => id)
            .filter((id) => sees(caller, id));
          yield* databases.doctor.examine(ids, { signal });
        } finally {
          isRunning = false;
        }
      }

      return async (request, reply) => {
        return sendStream(request, reply, inFlight.closing, {
          type: NDJSON,
          open: (signal) => checks(callerOf(request), signal),
          lastLine: (error) => ({ error }),
        });
      };
    },
  },
};
