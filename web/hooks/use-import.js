import { databasePath, Failure, send, sendJson, untilAnswered } from '../api.js';
import { noProgress, upload } from '../upload.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';

/**
 * An import of a file, step by step: `choose`, `reading`, `preview`, `storing`, and `done`, `cancelled` or `failed`.
 */
export function useImport(key) {
  const [state, setState] = useState({ step: 'choose' });
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  const start = () => {
    controller.current.abort();
    controller.current = new AbortController();
    return controller.current.signal;
  };
  const read = async (file, choices = {}) => {
    const signal = start();
    // The preview of the same file stays, with what was chosen in it.
    const isAgain = state.step === 'preview' && state.file === file;
    setState(isAgain ? { ...state, choices, isReading: true } : { step: 'reading', file, rows: 0 });
    try {
      const { BrowserFile } = await import('../lazy/import.js');
      const onProgress = (rows) => !isAgain && setState({ step: 'reading', file, rows });
      const content = await BrowserFile.open(file, { ...choices, onProgress, signal });
      signal.throwIfAborted();
      setState({ step: 'preview', file, content, choices });
    } catch (failure) {
      if (!signal.aborted) setState({ step: 'choose', failure });
    }
  };
  const store = async ({ database, settings, types }) => {
    const signal = start();
    const { file, content } = state;
    const shared = { file, content, database, total: content.rows };
    let progress = noProgress();
    setState({ step: 'storing', progress, ...shared });
    try {
      if (settings !== undefined) {
        const formats = content.formats(types);
        await create({ key, database, settings: { ...settings, ...(formats && { formats }) }, signal });
      } else {
        await content.checkKind(types, (id) => recordOf({ key, database, id, signal }));
        await addFormats({ key, database, content, types, signal });
      }
      for await (progress of upload({ key, database, source: content.records(types), signal })) {
        setState({ step: 'storing', progress, ...shared });
      }
      setState({ step: 'done', progress, ...shared });
    } catch (failure) {
      setState(
        signal.aborted
          ? { step: 'cancelled', progress, ...shared }
          : { step: 'failed', failure, progress, ...shared },
      );
    }
  };
  return {
    ...state,
    read,
    store,
    cancel: () => controller.current.abort(),
    restart: () => setState({ step: 'choose' }),
  };
}

/** Requests a record; undefined when there is none. */
async function recordOf({ key, database, id, signal }) {
  try {
    const path = databasePath(database, `/records/${encodeURIComponent(id)}`);
    return await untilAnswered(signal, () => sendJson('GET', path, { key, signal }));
  } catch (failure) {
    if (failure.code !== 'record_not_found') throw failure;
    return undefined;
  }
}

/** Adds the formats of the columns of a file to a database, which exports to CSV then have. */
async function addFormats({ key, database, content, types, signal }) {
  if (content.formats(types) === undefined) return;
  const path = databasePath(database);
  try {
    const existing = await untilAnswered(signal, () => sendJson('GET', path, { key, signal }));
    const formats = content.formats(types, existing.formats);
    if (formats === undefined) return;
    const body = JSON.stringify({ formats });
    await untilAnswered(signal, () => send('PATCH', path, { key, body, signal }));
  } catch (failure) {
    // A key may be allowed to write records only.
    if (failure.code !== 'forbidden') throw failure;
  }
}

/**
 * Creates a database.
 *
 * @throws {Failure} also if there is one of this name: the records of a file could replace some of its own.
 */
async function create({ key, database, settings, signal }) {
  const body = JSON.stringify(settings);
  let isNew;
  try {
    isNew = (await send('PUT', databasePath(database), { key, body, signal })).status === 201;
  } catch (failure) {
    // It has other settings.
    if (failure.code !== 'database_exists') throw failure;
    isNew = false;
  }
  if (!isNew) {
    const detail = `There is a database ${database} already. Choose it as the target, or another name.`;
    throw new Failure({ status: 409, code: 'database_exists', detail });
  }
}
