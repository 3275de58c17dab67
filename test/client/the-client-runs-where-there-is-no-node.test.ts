import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const DIST = path.resolve('dist');

/** What a module, and every module that it imports at once, takes from Node: modules and globals. */
function takenFromNode(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const globals = [...text.replace(/\/\*[\s\S]*?\*\//g, '').matchAll(/\b(?:Buffer|process|global)\./g)];
  const imports = text.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)';/gm);
  return [
    ...globals.map(([global]) => `${path.relative(DIST, file)}: ${global}`),
    ...[...imports].flatMap(([, specifier = '']) => {
      if (specifier.startsWith('.')) return takenFromNode(path.resolve(path.dirname(file), specifier), seen);
      return specifier.startsWith('node:') ? [`${path.relative(DIST, file)}: ${specifier}`] : [];
    }),
  ];
}

test('the client takes nothing from Node until a stream of lines is sent', () => {
  expect(takenFromNode(path.join(DIST, 'client/index.js'))).toEqual([]);
  // The walk finds what is there.
  const streams = takenFromNode(path.join(DIST, 'client/line-stream.js'));
  expect(streams).toContain('client/line-stream.js: node:http');
  expect(streams).toContain('client/line-stream.js: Buffer.');
});
