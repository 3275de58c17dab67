import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERRORS, PROBLEM_CODES } from '../../src/errors.js';
import { openApiDocument } from '../../src/server/openapi/document.js';
import { errorsOf, OPERATIONS } from '../../src/server/operations.js';

const root = new URL('../../', import.meta.url);

test('the table in the docs is the table in the code', () => {
  const docs = readFileSync(new URL('docs/errors.md', root), 'utf8');
  const rows = [...docs.matchAll(/^\| `(\w+)` \| (\d+) \| (.+) \|$/gm)].map(([, code, status, title]) => [
    code,
    { status: Number(status), title },
  ]);
  expect(rows).toEqual(Object.entries(ERRORS));
});

test('the codes of problems are those of the engine, of the docs, and of the OpenAPI document', () => {
  const engine = readFileSync(new URL('crates/engine/src/problem.rs', root), 'utf8');
  const [, listed = ''] = /^codes! \{$(.*?)^\}$/ms.exec(engine) ?? [];
  const named = [...listed.matchAll(/^ {4}\w+ = "(\w+)",$/gm)].map(([, code]) => code);
  const codes = Object.keys(PROBLEM_CODES);
  expect(codes).toEqual(named);

  const docs = readFileSync(new URL('docs/errors.md', root), 'utf8');
  const rows = [...docs.matchAll(/^\| `(\w+)` \| ([^|]+) \|$/gm)].map(([, code, text]) => [code, text]);
  expect(rows).toEqual(Object.entries(PROBLEM_CODES));

  // biome-ignore lint/suspicious/noExplicitAny: a document to walk through
  const schemas = openApiDocument().components.schemas as any;
  expect(schemas.LineProblem.properties.code.enum).toEqual(codes);
  expect(schemas.Problem.properties.errors.items.properties.code.enum).toEqual(codes);
  expect(schemas.LineFailure.properties.code.enum).toEqual(Object.keys(ERRORS));
});

test('every code that TypeScript throws is a row, and every row is thrown or answered somewhere', () => {
  const sources = filesOf(new URL('src/', root), '.ts')
    .filter((file) => !file.pathname.endsWith('src/errors.ts'))
    .map((file) => readFileSync(file, 'utf8'));
  const thrown = sources.flatMap((text) =>
    [...text.matchAll(/new CosiftError\(\s*'(\w+)'/g)].map(([, code]) => code),
  );
  expect(thrown.filter((code) => code === undefined || !Object.hasOwn(ERRORS, code))).toEqual([]);
  const engine = filesOf(new URL('crates/engine/src/', root), '.rs').map((file) =>
    readFileSync(file, 'utf8'),
  );
  const everything = [...sources, ...engine].join('\n');
  const unused = Object.keys(ERRORS).filter((code) => !new RegExp(`["']${code}["']`).test(everything));
  expect(unused).toEqual([]);
});

test('no operation answers a bad request with 422, and every one can say who is not let in', () => {
  for (const [operationId, operation] of Object.entries(OPERATIONS)) {
    const codes = errorsOf(operation);
    expect(codes.map((code) => ERRORS[code].status)).not.toContain(422);
    if (!('open' in operation)) expect(codes, operationId).toContain('unauthorized');
  }
});

function filesOf(directory: URL, extension: string): URL[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return filesOf(new URL(`${entry.name}/`, directory), extension);
    return entry.name.endsWith(extension) ? [new URL(entry.name, directory)] : [];
  });
}
