import { Readable } from 'node:stream';
import { CosiftError } from '../../errors.js';
import type { DoctorCheck } from '../../schema/index.js';
import { callerOf, sees } from '../admission/access.js';
import { logFailure } from '../http/log-failure.js';
import { onClose } from '../http/on-close.js';
import { asCosiftError, problemBody } from '../http/problem-response.js';
import type { Dependencies, Handlers } from './dependencies.js';

/** Handler of the doctor. One request at a time is served, because it reads every record. */
export function doctorHandlers({ backend, keys, inFlight }: Dependencies): Handlers {
  let isRunning = false;

  async function* checks(sees: (id: string) => boolean, signal: AbortSignal): AsyncGenerator<DoctorCheck> {
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
    const ids = (await backend.databases(signal)).map(({ id }) => id).filter(sees);
    yield* backend.examine(ids, { signal });
  }

  return {
    async doctor(request, reply) {
      const caller = callerOf(request);
      if (isRunning) throw new CosiftError('busy', 'the doctor is running for another request');
      isRunning = true;
      const stopped = new AbortController();
      const { signal } = stopped;
      const closing = () => stopped.abort(inFlight.closing.reason);
      inFlight.closing.addEventListener('abort', closing, { once: true });
      const report = lines();
      // Runs in every case, even if the response is never started or the client does not read all of it: a generator whose
      // reader is gone does not continue by itself.
      onClose(request, reply, () => {
        inFlight.closing.removeEventListener('abort', closing);
        stopped.abort(new CosiftError('stopped', 'the caller went away'));
        const end = () => {
          isRunning = false;
        };
        report.return(undefined).then(end, end);
      });

      async function* lines(): AsyncGenerator<string> {
        try {
          for await (const check of checks((id) => sees(caller, id), signal)) {
            yield `${JSON.stringify(check)}\n`;
          }
        } catch (error) {
          const failure = asCosiftError(signal.aborted ? signal.reason : error);
          logFailure(request.log, failure, 'stream ended early');
          const { code, detail } = problemBody(failure, request.id);
          yield `${JSON.stringify({ error: { code, detail, request_id: request.id } })}\n`;
        }
      }

      const response = Readable.from(report, { objectMode: false });
      return reply.header('content-type', 'application/x-ndjson; charset=utf-8').send(response);
    },
  };
}
