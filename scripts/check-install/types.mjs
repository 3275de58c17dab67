// The types of an installed cosift and of its client alone, as programs with strict settings see them.
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { check } from './checks.mjs';

const TSC = join(root, 'node_modules/typescript/bin/tsc');
const STRICT = { strict: true, noEmit: true, skipLibCheck: false, target: 'ES2022', types: [] };

const IMPORTS = ['types-import.mts', 'types-client-import.mts'];
const REQUIRES = ['types-require.cts', 'types-client-require.cts'];

/** The settings of a program, and what it imports cosift with. */
const SETTINGS = {
  'nodenext, import': { module: 'NodeNext', files: IMPORTS },
  'nodenext, require': { module: 'NodeNext', files: REQUIRES },
  'bundler, import': { module: 'ESNext', moduleResolution: 'Bundler', files: IMPORTS },
  'bundler, require': { module: 'Preserve', moduleResolution: 'Bundler', files: REQUIRES },
  'nodenext, with the types of Node instead of those of a browser': {
    module: 'NodeNext',
    lib: ['ES2023'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    files: [...IMPORTS, ...REQUIRES],
  },
};

export async function checkTypes(project) {
  for (const [title, settings] of Object.entries(SETTINGS)) {
    await check(`tsc, ${title}`, () => compile(project, settings));
  }
}

/** The client alone is for browsers, too, which have no types of Node. */
export async function checkTypesOfClient(client) {
  await check('tsc, @cosift/client alone', () =>
    compile(client, { module: 'NodeNext', files: ['types-client-import.mts', 'types-client-require.cts'] }),
  );
}

async function compile(project, { files, ...options }) {
  project.write('tsconfig.json', JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files }));
  await project.node(TSC, '-p', 'tsconfig.json');
}
