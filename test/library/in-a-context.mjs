// Loads the library in a context of `node:vm`, as Jest does, and searches. Prints the id that is found.
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const [, , directory] = process.argv;
const DIST = new URL('../../dist/', import.meta.url).href;
const context = vm.createContext({});
const builtIn = new Set(vm.runInContext('Object.getOwnPropertyNames(globalThis)', context));
for (const name of Object.getOwnPropertyNames(globalThis)) {
  if (!builtIn.has(name)) context[name] = globalThis[name];
}
// As before Node 24.
vm.runInContext('delete Symbol.dispose; delete Symbol.asyncDispose', context);

/** The modules of the context, by URL. Modules outside of `dist` are those of Node's own context. */
const modules = new Map();

async function load(specifier, { identifier }) {
  const url = /^\.{0,2}\//.test(specifier) ? new URL(specifier, identifier).href : specifier;
  if (!modules.has(url)) modules.set(url, url.startsWith(DIST) ? ofContext(url) : ofNode(url));
  return modules.get(url);
}

function ofContext(url) {
  if (url.endsWith('.cjs')) return ofNode(url);
  return new vm.SourceTextModule(readFileSync(new URL(url), 'utf8'), {
    context,
    identifier: url,
    initializeImportMeta: (meta) => {
      meta.url = url;
    },
    importModuleDynamically: async (specifier, { identifier }) => {
      const module = await load(specifier, { identifier });
      if (module.status === 'unlinked') await module.link(load);
      await module.evaluate();
      return module;
    },
  });
}

async function ofNode(specifier) {
  const namespace = await import(existsSync(specifier) ? pathToFileURL(specifier).href : specifier);
  const names = Object.keys(namespace);
  return new vm.SyntheticModule(
    names,
    function exportAll() {
      for (const name of names) this.setExport(name, namespace[name]);
    },
    { context, identifier: specifier },
  );
}

const library = await load('./index.js', { identifier: DIST });
await library.link(load);
await library.evaluate();
const cosift = await library.namespace.open(directory);
const database = await cosift.createDatabase('vectors', { dimensions: 2 });
await database.upsert([{ id: 7, data: {}, vector: [1, 0] }]);
const { results } = await database.search({ vector: [1, 0] });
console.log(results[0].id);
await cosift.close();
