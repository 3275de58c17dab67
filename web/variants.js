/**
 * The variants of the HTTP API: which id of a record is shown, and in what the requests of a copied program differ. The page
 * itself asks for both ids.
 */
export const VARIANTS = {
  B: {
    ids: 'integer ids',
    idOf: ({ id }) => `#${id}`,
    path: '',
    times: { created_at: 'first_seen_time', changed_at: 'last_changed_time', synced_at: 'last_seen_time' },
  },
  A: { ids: 'UUIDs', idOf: ({ uuid }) => uuid, path: '/records', times: {} },
};
