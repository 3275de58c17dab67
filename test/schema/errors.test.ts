import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERRORS, PROBLEM_CODES } from '../../src/errors.js';
import { openApiDocument } from '../../src/server/openapi/document.js';
import { errorsOf } from '../../src/server/operation.js';
import { HTTP_API, OPERATIONS } from '../../src/server/variants/variants.js';

const root = new URL('../../', import.meta.url);

test('the codes of problems are those of the engine and of the OpenAPI document', () => {
  const engine = readFileSync(new URL('crates/engine/src/record/validation.rs', root), 'utf8');
  const [, listed = ''] = /^codes! \{$(.*?)^\}$/ms.exec(engine) ?? [];
  const named = [...listed.matchAll(/^ {4}\w+ = "(\w+)",$/gm)].map(([, code]) => code);
  const codes = Object.keys(PROBLEM_CODES);
  expect(codes).toEqual(named);

  // biome-ignore lint/suspicious/noExplicitAny: a document to walk through
  const schemas = openApiDocument(HTTP_API).components.schemas as any;
  expect(schemas.LineProblem.properties.code.enum).toEqual(codes);
  expect(schemas.Problem.properties.errors.items.properties.code.enum).toEqual(codes);
  expect(schemas.LineFailure.properties.code.enum).toEqual(Object.keys(ERRORS));
});

test('every code that is thrown is a row, and every row has a place that makes its error', () => {
  const sources = textsOf('src/', '.ts').filter(({ path }) => !path.endsWith('src/errors.ts'));
  const made = sources.flatMap(({ text }) => [
    ...[...text.matchAll(/new CosiftError\(\s*'(\w+)'/g)].map(([, code]) => code),
    // A function that makes the error of a code that it is given.
    ...[...text.matchAll(/throw [a-z]\w*\([^;]*?'(\w+)'[,)]/g)].map(([, code]) => code),
  ]);
  const known = (code: string | undefined) => code !== undefined && Object.hasOwn(ERRORS, code);
  const thrown = sources.flatMap(({ text }) => [...text.matchAll(/new CosiftError\(\s*'(\w+)'/g)]);
  expect(thrown.map(([, code]) => code).filter((code) => !known(code))).toEqual([]);

  const engine = textsOf('crates/engine/src/', '.rs').map(({ path, text }) => ({
    path,
    // Tests in the file, and comments, make no error.
    text: (text.split('#[cfg(test)]')[0] ?? '').replaceAll(/^\s*\/\/.*$/gm, ''),
  }));
  for (const { path, text } of engine) {
    made.push(...[...text.matchAll(/Error::invalid\(\s*"(\w+)"/g)].map(([, code]) => code));
    made.push(...[...text.matchAll(/\bcode: "(\w+)"/g)].map(([, code]) => code));
    const arms = [...text.matchAll(/^\s*(\S[^\n]*?) => "(\w+)",$/gm)];
    for (const [, pattern = '', code] of arms) {
      const variants = [...pattern.matchAll(/Self::(\w+)/g)].map(([, variant]) => variant ?? '');
      // An arm of `code()` makes nothing: one of its variants must be made elsewhere.
      if (variants.length === 0 || variants.some((variant) => isMade(path, variant))) made.push(code);
    }
  }
  expect(Object.keys(ERRORS).filter((code) => !made.includes(code))).toEqual([]);

  /** Whether a variant of the error type that `path` declares is made in the engine: not only matched. */
  function isMade(path: string, variant: string): boolean {
    const type = path.includes('/store/') ? 'StoreError' : 'Error';
    const use = new RegExp(`\\b${type}::${variant}\\b(?![^\\n]*=>)`);
    const inside = new RegExp(`\\bSelf::${variant}\\b(?![^\\n]*(=>|\\.\\. \\}))`);
    return engine.some(({ path: other, text }) =>
      text
        .split('\n')
        .some(
          (line) =>
            !/matches!|if let|let Err/.test(line) &&
            (use.test(line) || (other === path && inside.test(line))),
        ),
    );
  }
});

test('no operation documents 422, and each that needs a key documents 401', () => {
  for (const [operationId, operation] of Object.entries(OPERATIONS)) {
    const codes = errorsOf(operation);
    expect(codes.map((code) => ERRORS[code].status)).not.toContain(422);
    if (!('open' in operation)) expect(codes, operationId).toContain('unauthorized');
  }
});

function textsOf(directory: string, extension: string): { path: string; text: string }[] {
  return filesOf(new URL(directory, root), extension).map((file) => ({
    path: file.pathname,
    text: readFileSync(file, 'utf8'),
  }));
}

function filesOf(directory: URL, extension: string): URL[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return filesOf(new URL(`${entry.name}/`, directory), extension);
    return entry.name.endsWith(extension) ? [new URL(entry.name, directory)] : [];
  });
}
