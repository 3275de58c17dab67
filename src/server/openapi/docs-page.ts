import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ERRORS } from '../../errors.js';
import { packageFile } from '../../platform/package.js';
import { escapeHtml, sampleForm } from './docs-samples.js';
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from './types.js';

/** What the page contains besides HTML: it loads no file, because the files of the page at `/` can be turned off. */
const [BASE, OWN, SCRIPT] = ['style/base.css', 'docs/style.css', 'docs/try.js'].map((name) =>
  readFileSync(packageFile(`web/${name}`), 'utf8'),
) as [string, string, string];
const STYLE = `${BASE}${OWN}`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page loads nothing, runs the one script that is in it, and sends requests only to the service. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The document as a web page that loads no other resource. */
export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<h2>${escapeHtml(name)}</h2><p>${escapeHtml(description)}</p>${own.map((described) => section(document, described)).join('')}`;
  });
  const contents = operations.map(
    ({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(document.info.title)}: HTTP API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style>
<main><h1>${escapeHtml(document.info.title)}: HTTP API</h1><p>${text(document.info.description)}</p>
<p>Every request except those under Service needs a key in the header <code>x-api-key</code>, or in
<code>authorization</code> after <code>Bearer</code>. This page is made from
<a href="openapi.json">openapi.json</a>.</p>
<p class="key"><label for="key">Key of the samples: that of the page at <code>/</code>. It stays in this tab.</label>
<input id="key" type="password" autocomplete="off" spellcheck="false"></p>
<nav aria-label="Operations"><ul>${contents.join('')}</ul></nav>
${sections.join('')}
<h2 id="errors">Errors</h2>
<p>A failure is <code>application/problem+json</code>: <code>code</code> is for programs, <code>detail</code> for
people, and <code>errors</code> names the members that are not valid.</p>
<table><tr><th>code<th>status<th>meaning</tr>${errorRows()}</table>
<h2>Schemas</h2>${Object.entries(document.components.schemas).map(schemaDetails).join('')}</main>
<script type="module">${SCRIPT}</script></html>`;
}

interface Described {
  path: string;
  method: string;
  operation: OpenApiOperation;
}

function section(document: OpenApiDocument, { path, method, operation }: Described): string {
  return `<h3 id="${operation.operationId}">${escapeHtml(operation.summary)}</h3>
<p><code><span class="method">${method}</span> ${escapeHtml(path)}</code></p>
${operation.description === undefined ? '' : `<p>${text(operation.description)}</p>`}
${parameterTable(operation)}${requestBody(operation)}${sampleForm(document, method, path, operation)}
<table><tr><th>status<th>response<th>body</tr>${Object.entries(operation.responses).map(responseRow).join('')}</table>`;
}

function parameterTable({ parameters = [] }: OpenApiOperation): string {
  if (parameters.length === 0) return '';
  const rows = (parameters as { name: string; in: string; description: string }[]).map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code><td>${escapeHtml(parameter.in)}<td>${text(parameter.description)}</tr>`,
  );
  return `<table><tr><th>parameter<th>in<th>meaning</tr>${rows.join('')}</table>`;
}

function requestBody({ requestBody: body }: OpenApiOperation): string {
  if (body === undefined) return '';
  const { content } = body as { content: Record<string, { schema: Schema }> };
  const types = Object.entries(content).map(
    ([type, { schema }]) => `<code>${escapeHtml(type)}</code>: ${schemaName(schema)}`,
  );
  return `<p>Body: ${types.join(', or ')}</p>`;
}

function responseRow([status, { description, content = {} }]: [string, OpenApiResponse]): string {
  const bodies = Object.entries(content as Record<string, { schema: Schema }>).map(
    ([type, { schema }]) => `${schemaName(schema)} <small>${escapeHtml(type)}</small>`,
  );
  return `<tr><td>${status}<td>${text(description)}<td>${bodies.join('<br>')}</tr>`;
}

interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
}

function schemaName({ $ref, type, description }: Schema): string {
  if ($ref === undefined) return text(description ?? type ?? '');
  const name = $ref.split('/').at(-1) ?? '';
  return `<a href="#schema-${name}">${name}</a>`;
}

function schemaDetails([name, schema]: [string, object]): string {
  const { examples } = schema as { examples?: unknown[] };
  const shown = (examples ?? []).map(
    (example) => `<pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>`,
  );
  return `<h3 id="schema-${name}">${name}</h3>${shown.join('')}
<details><summary>Schema</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`;
}

function errorRows(): string {
  return Object.entries(ERRORS)
    .map(
      ([code, { status, title }]) =>
        `<tr id="error-${code}"><td><code>${code}</code><td>${status}<td>${title}</tr>`,
    )
    .join('');
}

/** HTML of a text in which backticks enclose code. */
function text(prose: string): string {
  return escapeHtml(prose).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}
