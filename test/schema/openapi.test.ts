import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/errors.js';
import { docsPage } from '../../src/server/openapi/docs-page.js';
import { openApiDocument } from '../../src/server/openapi/document.js';
import { OPERATIONS } from '../../src/server/operations.js';

const document = openApiDocument();

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path]) => path as string,
  );
  expect(references.length).toBeGreaterThan(100);
  for (const reference of references) {
    const found = reference
      .split('/')
      .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
    expect(found, reference).toBeDefined();
  }
});

test('every schema is valid, and takes its own examples', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
  let examples = 0;
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
    for (const example of (schema as { examples?: unknown[] }).examples ?? []) {
      examples += 1;
      expect(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  }
  expect(examples).toBeGreaterThan(8);
});

test('every operation is there, secured unless it is open, with every status of its errors', () => {
  for (const [operationId, { method, path, ...operation }] of Object.entries(OPERATIONS)) {
    const described = document.paths[path]?.[method.toLowerCase()];
    expect(described?.operationId).toBe(operationId);
    expect(described?.security).toEqual('open' in operation ? [] : [{ key: [] }]);
    for (const { status } of operation.success) expect(described?.responses).toHaveProperty(String(status));
    expect(described?.responses).toHaveProperty('500');
  }
});

test('the page for people names every operation and code, and loads nothing', () => {
  const page = docsPage(document);
  for (const { path } of Object.values(OPERATIONS)) expect(page).toContain(path);
  for (const code of Object.keys(ERRORS)) expect(page).toContain(`id="error-${code}"`);
  expect(page).not.toMatch(/<script|<img|<link|src=|url\(|href="(?![#/])/);
});
