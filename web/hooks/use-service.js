import { sendJson, UNREACHABLE } from '../api.js';
import { storedKey, storeKey } from '../session.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { useRequest } from './use-request.js';

const RETRY_MS = 2_000;

/**
 * The key of the tab, what it may do, and the databases that it may see. While the service does not respond or is not
 * ready, it is asked again every two seconds.
 */
export function useService() {
  const [key, setKey] = useState(storedKey);
  const { value, failure, isLoading, reload } = useRequest(
    key === undefined ? undefined : (signal) => load(key, signal),
    [key],
  );
  const isDown = failure?.code === UNREACHABLE || failure?.code === 'not_ready';
  useEffect(() => {
    if (!isDown || isLoading) return undefined;
    const timer = setTimeout(reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [isDown, isLoading]);
  return {
    key,
    rights: key === undefined ? undefined : value?.rights,
    databases: value?.databases,
    failure,
    isLoading,
    reload,
    useKey: (next) => {
      storeKey(next);
      setKey(next);
    },
  };
}

async function load(key, signal) {
  const own = await sendJson('GET', 'v1/keys/self', { key, signal });
  const rights = rightsOf(own);
  if (rights.describe) {
    const [{ databases }, { aliases }] = await Promise.all(
      ['v1/databases', 'v1/aliases'].map((path) => sendJson('GET', path, { key, signal })),
    );
    const namesOf = (id) => aliases.filter(({ database }) => database === id).map(({ name }) => name);
    return { rights, databases: databases.map((one) => ({ ...one, aliases: namesOf(one.id) })) };
  }
  const ids = own.databases === '*' ? [] : own.databases;
  return { rights, databases: ids.map((id) => ({ id })) };
}

/** What the page may offer to the holder of a key. */
function rightsOf({ name, actions, databases, filtered, expires_at }) {
  const may = (action) => actions.includes(action);
  return {
    name,
    expires: expires_at,
    actions,
    filtered,
    search: may('search'),
    map: may('records.read'),
    write: may('records.write') && !filtered,
    create: may('databases.manage') && !filtered,
    describe: (may('databases.manage') || may('records.read')) && !filtered,
    /** Whether the key names its databases: otherwise one that cannot be listed may be typed. */
    all: databases === '*',
  };
}
