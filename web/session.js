const NAME = 'cosift.key';

/** The key of this tab. The browser forgets it with the tab. */
export function storedKey() {
  return sessionStorage.getItem(NAME) ?? undefined;
}

export function storeKey(key) {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
}

/**
 * Takes the key from the fragment of the address, where the start of a service puts it, and removes it there, so that
 * neither the history nor a copied address has it. A browser never sends a fragment.
 *
 * @returns the key if the tab has another one, which only the user may replace: a link of somebody else could make the tab
 * store records where its author reads them
 */
export function takeKeyFromAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const key = parameters.get('key')?.trim();
  if (key === undefined) return undefined;
  parameters.delete('key');
  const rest = parameters.toString();
  history.replaceState(null, '', location.pathname + location.search + (rest === '' ? '' : `#${rest}`));
  const own = storedKey();
  if (own === undefined) storeKey(key);
  return own === undefined || own === key ? undefined : key;
}
