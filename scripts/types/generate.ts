import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { COMPONENTS } from '../../src/schema/components.js';
import { Declarations } from './declarations.js';
import { FILES, IMPORTS, INTERNAL, TYPED } from './names.js';
import { generatePython } from './python.js';
import type { Schema } from './schema.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HEADER = '// Written by `npm run generate:types` from the schemas in src/schema. Do not edit.\n\n';

/**
 * Returns the types of requests and responses in TypeScript and in Python as files: paths relative to the repository, and
 * texts.
 *
 * @throws {Error} for a component that `names.ts` does not list, and for a type or a member without a description.
 */
export function generateTypes(): Map<string, string> {
  const listed = new Set([...INTERNAL, ...Object.values(FILES).flatMap((names) => Object.keys(names))]);
  for (const component of Object.keys(COMPONENTS)) {
    if (!listed.has(component)) throw new Error(`scripts/types/names.ts does not list ${component}`);
  }
  const bodies = Object.entries(FILES).map(([file, names]) => {
    const declarations = new Declarations(file !== 'responses');
    for (const [component, signature] of Object.entries(names)) {
      declarations.addComponent(COMPONENTS[component as keyof typeof COMPONENTS] as Schema, signature);
    }
    const typed = TYPED[file] ?? {};
    const body = declarations.text + Object.values(typed).join('');
    return { file, names: [...declarations.names, ...Object.keys(typed)], body };
  });
  const modules = new Map(
    Object.entries(IMPORTS).flatMap(([module, names]) => names.map((name) => [name, module] as const)),
  );
  for (const { file, names } of bodies) for (const name of names) modules.set(name, `./${file}.js`);
  const typeScript = bodies.map(({ file, body }) => {
    const text = HEADER + importsOf(body, `./${file}.js`, modules) + body;
    return [`src/schema/types/${file}.ts`, formatted(text)] as const;
  });
  return new Map([...typeScript, ...generatePython()]);
}

/** The import statements for the names that `body` uses. */
function importsOf(body: string, own: string, modules: ReadonlyMap<string, string>): string {
  const code = body.replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  const used = new Map<string, Set<string>>();
  for (const [name] of code.matchAll(/\b[A-Z]\w+\b/g)) {
    const module = modules.get(name);
    if (module === undefined || module === own) continue;
    used.set(module, (used.get(module) ?? new Set()).add(name));
  }
  const lines = [...used].sort().map(([module, names]) => {
    return `import type { ${[...names].sort().join(', ')} } from '${module}';\n`;
  });
  return `${lines.join('')}\n`;
}

function formatted(text: string): string {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const args = [biome, 'check', '--write', '--stdin-file-path=src/schema/types/generated.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`biome failed: ${stderr}`);
  return stdout;
}
