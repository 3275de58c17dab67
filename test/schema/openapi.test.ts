import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/errors.js';
import { docsPage } from '../../src/server/openapi/docs-page.js';
import { openApiDocument } from '../../src/server/openapi/document.js';
import { checkServiceSchema, type ServiceComponent } from '../../src/server/variants/schemas.js';
import { HTTP_API, OPERATIONS } from '../../src/server/variants/variants.js';

const document = openApiDocument(HTTP_API);

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
    expect(ajv.validateSchema(schema as object), `${name}: ${ajv.errorsText()}`).toBe(true);
    const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
    for (const example of (schema as { examples?: unknown[] }).examples ?? []) {
      examples += 1;
      expect(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  }
  expect(examples).toBeGreaterThan(8);
});

// Generators such as openapi-typescript take a member with a default for one that is always there.
test('no member of a request has a default, so that clients may leave it out', () => {
  const faults: string[] = [];
  const seen = new Set<unknown>();
  const walk = (value: unknown, where: string) => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const { $ref } = value as { $ref?: string };
    if ($ref !== undefined) walk(document.components.schemas[$ref.split('/').at(-1) as string], $ref);
    if ('default' in value) faults.push(where);
    for (const [name, child] of Object.entries(value)) walk(child, `${where}/${name}`);
  };
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { operationId, requestBody, parameters } of Object.values(methods)) {
      walk(requestBody, operationId);
      walk(parameters, `${path} ${operationId}`);
    }
  }
  expect(seen.size).toBeGreaterThan(200);
  expect(faults).toEqual([]);
});

test('what is published as alternatives takes what the service takes, and nothing else', () => {
  const rule = { column: 'n', operator: 'equals', value: 1 };
  const values: [ServiceComponent, unknown][] = [
    { column: 'n' },
    { column: 'n', type: 'values', limit: 3 },
    { column: 'n', type: 'histogram', interval: 1 },
    { time: 'synced', interval: 'day' },
    { column: 'n', type: 'histogram' },
    { column: 'n', type: 'other' },
    { column: 'n', interval: 1 },
    { column: 'n', time: 'synced', interval: 'day' },
    { time: 'synced' },
    {},
  ].map((value) => ['Facet', value]);
  const groups = [
    { condition: 'AND', rules: [rule] },
    { condition: 'AND', rules: [rule, { condition: 'OR', rules: [rule] }] },
    { condition: 'AND', rules: [{ rules: [rule] }] },
    { condition: 'AND', rules: [{ condition: 'OR' }] },
    { condition: 'AND', rules: [{ ...rule, condition: 'OR' }] },
    { condition: 'AND', rules: [{ column: 'n', operator: 'is_empty' }] },
    { condition: 'AND', rules: [{ column: 'n', operator: 'is_empty', value: 1 }] },
    { condition: 'AND', rules: [{ column: 'n', operator: 'contains', value: 1 }] },
    { condition: 'AND', rules: [] },
    { rules: [rule] },
    { condition: 'AND', rules: [5] },
  ];
  for (const group of groups) values.push(['FilterGroupA', group], ['FilterGroup', group]);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
  const taken = values.map(([name, value]) => {
    const published = ajv.validate({ $ref: `document#/components/schemas/${name}` }, value);
    let checked = true;
    try {
      checkServiceSchema(name, value);
    } catch {
      checked = false;
    }
    expect(published, `${name} ${JSON.stringify(value)}`).toBe(checked);
    return checked;
  });
  expect(taken.filter(Boolean).length).toBe(12);
  const { Facet, FilterNodeA } = document.components.schemas;
  for (const schema of [Facet, FilterNodeA]) expect(schema).toHaveProperty('anyOf');
});

test('every operation is there, secured unless it is open, with every status of its errors', () => {
  for (const [operationId, { method, path, ...operation }] of Object.entries(OPERATIONS)) {
    const described = document.paths[path]?.[method.toLowerCase()];
    expect(described?.operationId).toBe(operationId);
    expect(described?.security).toEqual('open' in operation ? [] : [{ key: [] }, { bearer: [] }]);
    for (const { status } of operation.success) expect(described?.responses).toHaveProperty(String(status));
    expect(described?.responses).toHaveProperty('500');
  }
});

test('the page for people names every operation and code, and loads nothing', () => {
  const page = docsPage(document);
  for (const { path } of Object.values(OPERATIONS)) expect(page).toContain(path);
  for (const code of Object.keys(ERRORS)) expect(page).toContain(`id="error-${code}"`);
  expect(page).not.toMatch(/<img|<link|src=|url\(|href="(?!#|openapi\.json")/);
});

test('an operation that embeds texts documents that a package may be missing', () => {
  const operations = Object.entries(OPERATIONS);
  const embedding = operations.filter(([, { errors }]) => errors?.includes('model_mismatch'));
  expect(embedding.map(([id]) => id)).toEqual(
    expect.arrayContaining(['searchA', 'searchB', 'upsertRecords', 'patchRecord', 'createDatabase']),
  );
  for (const [id, operation] of embedding) expect(operation.errors, id).toContain('not_installed');
});
