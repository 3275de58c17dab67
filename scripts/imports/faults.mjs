import { posix } from 'node:path';

/** @typedef {import('./read.mjs').Import} Import */

/**
 * What is wrong with the imports, one line each: `file:line: reason`.
 *
 * @param {string[]} files
 * @param {Import[]} imports
 * @param {typeof import('./rooms.mjs')} rooms
 * @returns {string[]}
 */
export function faultsOf(files, imports, rooms) {
  return [
    ...unlistedOf(files, rooms.ORDER),
    ...imports.flatMap((edge) => [...upwardOf(edge, rooms.ORDER), ...forbiddenOf(edge, rooms)]),
    ...circlesOf(imports, rooms.ORDER),
  ];
}

/** Files and folders that have no place in the order of their folder. */
function unlistedOf(files, order) {
  const unlisted = new Set();
  for (const file of files) {
    for (const [folder, rows] of Object.entries(order)) {
      const child = childOf(folder, file);
      if (child !== undefined && !rows.flat().includes(child)) unlisted.add(posix.join(folder, child));
    }
  }
  return [...unlisted].map((path) => `${path}: has no place in scripts/imports/rooms.mjs`);
}

/** Compares the two children of the deepest common folder in which the files of an import are. */
function upwardOf({ from, to, line }, order) {
  const { folder, importer, imported } = partingOf(from, to);
  const rows = order[folder];
  if (rows === undefined || importer === imported) return [];
  const rowOf = (child) => rows.findIndex((row) => row.includes(child));
  if (rowOf(importer) < rowOf(imported)) return [];
  return [
    `${from}:${line}: imports ${to}, but in ${folder || 'the project'} ${importer} is not above ${imported}`,
  ];
}

function forbiddenOf({ from, to, line }, { IMPORTERS, IMPORTS }) {
  const faults = [];
  for (const [target, importers] of Object.entries(IMPORTERS)) {
    if (!isIn(to, target) || isIn(from, target) || importers.some((path) => isIn(from, path))) continue;
    faults.push(`${from}:${line}: imports ${to}; only ${importers.join(', ')} may import ${target}`);
  }
  for (const [importer, targets] of Object.entries(IMPORTS)) {
    if (!isIn(from, importer) || isIn(to, importer) || targets.some((path) => isIn(to, path))) continue;
    faults.push(`${from}:${line}: imports ${to}; ${importer} may import only ${targets.join(', ')}`);
  }
  return faults;
}

/**
 * Circles among the files and subfolders of each folder. An import counts at the deepest folder that contains both files,
 * as an edge between the two children of that folder. Every circle of files is also a circle of such edges.
 *
 * Folders with an order are left out, because a circle among their children contains an import that points upward.
 *
 * @param {Import[]} imports
 */
function circlesOf(imports, order) {
  /** @type {Map<string, Map<string, Map<string, Import>>>} by folder, importing child and imported child */
  const folders = new Map();
  for (const edge of imports) {
    const { folder, importer, imported } = partingOf(edge.from, edge.to);
    if (importer === imported || folder in order) continue;
    const children = getOrMake(folders, folder);
    const targets = getOrMake(children, importer);
    if (!targets.has(imported)) targets.set(imported, edge);
  }
  const faults = [];
  for (const [folder, children] of folders) {
    for (const [child, targets] of children) {
      for (const [target, edge] of targets) {
        const back = pathBetween(children, target, child);
        if (back === undefined) continue;
        const circle = [child, ...back].map((name) => posix.join(folder, name)).join(' -> ');
        faults.push(`${edge.from}:${edge.line}: imports ${edge.to}, which closes the circle ${circle}`);
      }
    }
  }
  return faults;
}

/** The shortest path of imports from `start` to `end`, both included; undefined when there is none. */
function pathBetween(children, start, end) {
  const paths = [[start]];
  const seen = new Set([start]);
  for (const path of paths) {
    const last = path.at(-1);
    if (last === end) return path;
    for (const next of children.get(last)?.keys() ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return undefined;
}

function getOrMake(map, key) {
  const value = map.get(key) ?? new Map();
  map.set(key, value);
  return value;
}

/** The deepest folder that holds both files, and the children of it in which they are. */
function partingOf(from, to) {
  const [a, b] = [from.split('/'), to.split('/')];
  let depth = 0;
  while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1;
  return { folder: a.slice(0, depth).join('/'), importer: a[depth], imported: b[depth] };
}

/** The file or subfolder of `folder` in which `file` is. */
function childOf(folder, file) {
  const start = folder === '' ? '' : `${folder}/`;
  return file.startsWith(start) ? file.slice(start.length).split('/', 1)[0] : undefined;
}

function isIn(file, path) {
  return file === path || file.startsWith(`${path}/`);
}
