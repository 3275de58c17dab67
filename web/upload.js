import { databasePath, Failure, send, UNREACHABLE, untilAnswered } from './api.js';

/** Records and bytes of a request. The progress is shown after each. */
const MAX_RECORDS = 250;
const MAX_BYTES = 1 << 20;

/** What became of the lines of a file so far. */
export const noProgress = () => ({ sent: 0, created: 0, changed: 0, unchanged: 0, bad: [] });

/**
 * Stores the records of a file, request by request. The records have the same identity whenever the file is read, so a request
 * that is repeated after a lost response stores nothing twice.
 *
 * @param {{ records: AsyncIterable<{ records: { json: Uint8Array, line: number }[], bad: object[] }> }} source
 * @returns an iterator of the progress after each request
 */
export async function* upload({ key, database, source, signal }) {
  const progress = noProgress();
  for await (const { records, bad } of requestsOf(source)) {
    signal.throwIfAborted();
    progress.bad.push(...bad);
    if (records.length > 0) {
      for (const event of await store({ key, database, records, signal })) {
        if (event.type === 'problem') {
          progress.bad.push({ line: records[event.line - 1].line, reason: reasonOf(event) });
        } else if (event.type === 'summary') {
          for (const name of ['created', 'changed', 'unchanged']) progress[name] += event[name];
        }
      }
      progress.sent += records.length;
    }
    yield { ...progress, bad: [...progress.bad] };
  }
}

const reasonOf = ({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`);

/** Divides the records of a file into requests. */
async function* requestsOf(source) {
  let records = [];
  let bad = [];
  let bytes = 0;
  for await (const batch of source) {
    bad.push(...batch.bad);
    for (const record of batch.records) {
      if (records.length > 0 && (records.length === MAX_RECORDS || bytes + record.json.length > MAX_BYTES)) {
        yield { records, bad };
        [records, bad, bytes] = [[], [], 0];
      }
      records.push(record);
      bytes += record.json.length;
    }
  }
  yield { records, bad };
}

/** Sends records, and returns the events of the response. */
function store({ key, database, records, signal }) {
  const body = new Blob(records.map(({ json }) => json));
  const path = databasePath(database, '/records');
  return untilAnswered(signal, async () => {
    const response = await send('POST', path, { key, body, type: 'application/x-ndjson', signal });
    return eventsOf(await response.text());
  });
}

function eventsOf(text) {
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const last = events.at(-1);
  if (last?.type === 'summary') return events;
  throw new Failure(
    last?.type === 'error' ? last : { code: UNREACHABLE, detail: 'The response ended early.' },
  );
}
