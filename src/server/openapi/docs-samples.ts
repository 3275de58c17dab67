import type { OpenApiDocument, OpenApiOperation } from './types.js';

/** Pages for people, and an archive, which nobody reads in a browser. */
const WITHOUT_SAMPLE = new Set(['docs', 'page', 'backup']);

interface Parameter {
  name: string;
  in: string;
  example?: unknown;
}

interface Schema {
  $ref?: string;
  examples?: unknown[];
}

/** A form that sends a sample of an operation; empty for an operation that has none. */
export function sampleForm(
  document: OpenApiDocument,
  method: string,
  path: string,
  operation: OpenApiOperation,
): string {
  const { operationId, parameters = [] } = operation;
  if (WITHOUT_SAMPLE.has(operationId)) return '';
  const inputs = (parameters as Parameter[])
    .filter((parameter) => parameter.in !== 'header')
    .map((parameter) => input(parameter, method));
  const body = bodyOf(document, operation);
  const type = body === undefined ? '' : ` data-type="${body.type}"`;
  const label = `Send ${operationId}`;
  return `<details class="try"><summary>Try it</summary>
<form data-method="${method}" data-path="${escapeHtml(path)}"${type} aria-label="Sample of ${operationId}">
${inputs.join('')}${body === undefined ? '' : textarea(body.sample)}
<p><button class="${method === 'DELETE' ? 'danger' : 'primary'}" aria-label="${label}">Send</button> <output></output></p>
<pre tabindex="0" aria-label="Response of ${operationId}" hidden></pre>
</form></details>`;
}

function input({ name, in: place, example }: Parameter, method: string): string {
  const isPath = place === 'path';
  // Whoever deletes something says what.
  const value = isPath && method !== 'DELETE' && example !== undefined ? String(example) : '';
  const attributes = `name="${name}" data-in="${place}" value="${escapeHtml(value)}"${isPath ? ' required' : ''}`;
  return `<label>${escapeHtml(name)}<input ${attributes} autocomplete="off" spellcheck="false"></label>`;
}

function textarea(sample: string): string {
  const rows = Math.min(20, sample.split('\n').length);
  return `<label>Body<textarea rows="${rows}" spellcheck="false">${escapeHtml(sample)}</textarea></label>`;
}

/** The body of the first media type, with the example of its schema. */
function bodyOf(
  { components }: OpenApiDocument,
  { requestBody }: OpenApiOperation,
): { type: string; sample: string } | undefined {
  if (requestBody === undefined) return undefined;
  const { content } = requestBody as { content: Record<string, { schema: Schema }> };
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(content);
  const name = schema.$ref?.split('/').at(-1) ?? '';
  const { examples: [example = {}] = [] } = (components.schemas[name] ?? {}) as Schema;
  return { type, sample: JSON.stringify(example, null, 2) };
}

export function escapeHtml(words: string): string {
  return words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
