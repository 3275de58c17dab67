import { ERRORS, type ErrorCode, PROBLEM_CODES } from '../../src/errors.js';
import { code, table } from './markdown.js';

/** What a caller can do about each error. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_json:
    'Send one JSON value in UTF-8, without duplicate members and without numbers beyond a double.',
  invalid_request: 'Correct the members or options that `errors` names.',
  invalid_filter: 'Correct the rules that `errors` names.',
  invalid_cursor:
    'Send `next_cursor` of an earlier response to a request of the same path and the same `accept`, or start again without a cursor.',
  invalid_time:
    'Use ISO 8601 with `Z` or an offset, or a date; the start must not be after the end, and an expiry must be in the future.',
  invalid_record: 'Correct the records that `errors` names. No record of the batch was stored.',
  invalid_vector:
    'Give each record of a database without a model, and each search by vector, a vector that is not all zeros; give a record none in a database with a model.',
  invalid_dimensions: 'Use vectors with as many values as the `dimensions` of the database.',
  unauthorized:
    'Send a valid key in the header `x-api-key`, or as `authorization: Bearer KEY`. A revoked or expired key is not valid.',
  forbidden:
    'Use a key with the action that the route needs. For a new key, ask for no more than its issuer may do.',
  not_found: 'Check the path.',
  database_not_found: 'Check the id. A database that the key may not see is reported in the same way.',
  record_not_found: 'Check the id. A record outside the filter of the key is reported in the same way.',
  key_not_found: 'Check the id. A key that the caller could not have issued is reported in the same way.',
  reembedding_not_found:
    'Begin one first. The state of a completed re-embedding is kept until the next start, that of a cancelled one is not.',
  alias_not_found: 'Check the name.',
  sync_not_found: 'Check the name. A service follows the sources of its config file.',
  webhook_not_found: 'Check the id. A webhook ends with its database and with its key.',
  method_not_allowed: 'Use one of the methods in the header `Allow`.',
  request_timeout: 'Send the request without long pauses.',
  database_exists: 'Use the settings that the database has, or another id.',
  identity_conflict: 'Give either the `id` or the `uuid`, or those of one record.',
  model_mismatch:
    'Configure the [model](../how-to/models.md) of the database with its original files, or embed the records again.',
  hold_lost: 'Take another hold, read the position of the sync, and make the pass again.',
  source_failed:
    'The detail says what to do at the source or in its definition, see [sync](../how-to/sync.md#when-something-fails). Records stay as they are.',
  reembedding_running: 'Wait until the re-embedding is done, or cancel it.',
  deletion_refused:
    'What the source has is written. Correct its lines, or allow as many deletions as `missing` says with `max_deletes`; library, client and command line call it `maxDeletes` and `--max-deletes`.',
  alias_conflict:
    'Use another name: no alias has the id of a database. Before a database is dropped, delete its aliases or let them name another one.',
  read_only:
    'Write in the process that opens the directory without `readOnly`, or send the write to its service.',
  data_locked:
    'Stop the other process, use its HTTP interface, or open the directory with `readOnly`. If it is another thread of this process, send it messages.',
  feed_restarted: 'Discard your copy of the records and start after position 0.',
  changes_removed:
    'Read all records, then continue after the position `after` of the response; library and client have it in `fields`.',
  precondition_failed:
    'Read the record, and write what follows from it as it is now. `changed_at` of the problem is when it was last changed. Nothing was written.',
  too_large: 'Send less; [limits](limits.md) has the size.',
  unsupported_media_type:
    'Send `application/json`, or `application/x-ndjson` for a streamed upsert, or `application/merge-patch+json` for a patch.',
  rate_limited: 'Wait as long as `Retry-After` says.',
  headers_too_large: 'Send fewer or shorter headers.',
  stopped: 'Nothing: it appears in the log when a client disconnected before its response.',
  internal: 'Report the error with the `request_id` and the lines of the log that contain it.',
  damaged:
    'See [backups](../how-to/backup.md). If the detail names `keys.json` or `webhooks.json`, see [keys](../how-to/keys.md).',
  not_installed:
    'Install the package that `detail` names; in a service, its log has the detail. The [built-in model](../how-to/models.md) and the engine are packages of their own.',
  busy: 'Wait as long as `Retry-After` says, and send fewer requests at a time; [limits](limits.md) has the numbers.',
  model_unavailable:
    'Try again later. The endpoint or the function of the [model](../how-to/models.md) failed: the log of the service has the cause, and in the library the detail.',
  not_ready:
    'Wait as long as `Retry-After` says; `/readyz` has the reason. In the library: the database is being loaded, created or dropped, or the databases were closed.',
  source_unavailable: 'Try again later: a sync does so by itself. The detail has the cause.',
  store_failed:
    'With a data directory, restart the service: a sync to disk failed, or the writer panicked, and the database refuses [writes until the next start](../how-to/start-and-stop.md). With [PostgreSQL](../how-to/postgresql.md), repeat the request; the log has the cause.',
  timed_out:
    'Send a cheaper request, or raise `answer_timeout_seconds`. A creation or a drop may still complete.',
  unreachable:
    'Check address and network. This is no response: the client and the command line report it, with `host`, `port` and `reason` (such as `ECONNREFUSED`) in `fields`.',
  disk_full: 'Free disk space. Searches and reads continue.',
};

export function errorCodes(): string {
  const rows = Object.entries(ERRORS).map(([name, { status, title }]) => [
    code(name),
    String(status),
    title,
    ADVICE[name as ErrorCode],
  ]);
  return table(['code', 'status', 'meaning', 'what to do'], rows);
}

export function problemCodes(): string {
  return table(
    ['code', 'meaning'],
    Object.entries(PROBLEM_CODES).map(([name, meaning]) => [code(name), meaning]),
  );
}
