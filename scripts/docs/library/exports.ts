import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from '@babel/parser';
import { type Declaration, DeclarationReader, type Statement } from './declaration.js';

/** What a module exports, by exported name, in the order of the source. */
export type Exports = Map<string, Declaration>;

const modules = new Map<string, Exports>();

/** Reads the exports of the source file at `path`, with those that it exports from other files. */
export function exportsOf(path: string): Exports {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const exports: Exports = new Map();
  modules.set(path, exports);
  const source = readFileSync(path, 'utf8');
  const { body } = parse(source, {
    sourceType: 'module',
    plugins: ['typescript', 'explicitResourceManagement'],
  }).program;
  const reader = new DeclarationReader(source);
  const local = new Map(
    body.flatMap((statement) => declared(reader, statement)).map((item) => [item.name, item]),
  );
  for (const statement of body) {
    if (statement.type === 'ExportAllDeclaration') {
      for (const [name, item] of exportsOf(fileOf(path, statement.source.value))) exports.set(name, item);
    }
    if (statement.type !== 'ExportNamedDeclaration') continue;
    if (statement.declaration) {
      for (const item of reader.read(statement.declaration, statement)) exports.set(item.name, item);
    }
    const from = statement.source ? exportsOf(fileOf(path, statement.source.value)) : local;
    for (const specifier of statement.specifiers) {
      if (specifier.type !== 'ExportSpecifier') continue;
      const name = nameOf(specifier.exported);
      const item = from.get(specifier.local.name) ?? imported(path, body, specifier.local.name);
      if (item === undefined) throw new Error(`${path} exports ${name}, which is declared nowhere`);
      exports.set(name, { ...item, name });
    }
  }
  return exports;
}

function declared(reader: DeclarationReader, statement: Statement): Declaration[] {
  const inner = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  return inner ? reader.read(inner, statement) : [];
}

/** A name that a file imports and exports again. */
function imported(path: string, body: readonly Statement[], name: string): Declaration | undefined {
  for (const statement of body) {
    if (statement.type !== 'ImportDeclaration') continue;
    for (const specifier of statement.specifiers) {
      if (specifier.type !== 'ImportSpecifier' || specifier.local.name !== name) continue;
      return exportsOf(fileOf(path, statement.source.value)).get(nameOf(specifier.imported));
    }
  }
  return undefined;
}

function nameOf(name: { type: string; name?: string; value?: string }): string {
  return name.name ?? name.value ?? '';
}

function fileOf(importer: string, specifier: string): string {
  return join(dirname(importer), specifier.replace(/js$/, 'ts'));
}
