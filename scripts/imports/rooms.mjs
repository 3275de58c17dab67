// The only list of which part of the TypeScript sources may import which. `npm run lint` checks the sources against it.

/**
 * For a folder, its files and subfolders from top to bottom. An entry imports only entries of later rows: entries of
 * one row do not import each other. Every file and subfolder of a folder listed here must be in its list.
 */
export const ORDER = {
  '': [['test'], ['bench'], ['scripts'], ['src'], ['packages', 'native', 'dist']],
  src: [
    ['index.cts'],
    ['index.ts'],
    ['cli'],
    ['server'],
    ['mcp', 'ai', 'langchain'],
    ['where'],
    ['library', 'client'],
    ['sync'],
    ['readers'],
    ['databases'],
    ['store', 'embedding'],
    ['api'],
    ['agents'],
    ['config'],
    ['schema'],
    ['async'],
    ['files'],
    ['platform'],
    ['errors.ts'],
  ],
  'src/server': [
    ['main.ts'],
    ['app.ts', 'close-on-signal.ts', 'preparation.ts', 'service-state.ts'],
    ['routes.ts', 'shared-state.ts'],
    ['variants'],
    ['resources'],
    ['openapi', 'page'],
    ['doctor'],
    ['webhooks'],
    ['observability'],
    ['admission'],
    ['keys'],
    ['operation.ts'],
    ['http'],
  ],
};

/** The only importers of a file or folder, besides itself. */
export const IMPORTERS = {
  native: ['src/store/local'],
  dist: ['scripts', 'bench', 'test'],
  'src/embedding': ['src/databases', 'bench', 'test'],
  // Everything else works with any store.
  'src/store/local': [
    // The rules of the engine, which every store keeps.
    'src/store/postgres',
    'src/databases/open.ts',
    'src/databases/check-lines.ts',
    'src/databases/index.ts',
    'src/databases/doctor/examine-directory.ts',
    'src/server/http/strict-json.ts',
    'src/server/keys/key-file.ts',
    'bench',
    'test',
  ],
};

/** All that a folder may import, besides itself. */
export const IMPORTS = {
  // The client runs where there is no engine, and so do the objects for the AI SDK.
  'src/client': ['src/api', 'src/schema', 'src/async', 'src/errors.ts'],
  'src/ai': ['src/api', 'src/agents', 'src/schema', 'src/errors.ts'],
  // Types: the code imports nothing of cosift.
  'src/langchain': ['src/api'],
};
