import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import type { Data } from '../../src/schema/index.js';
import { type Running, type StartOptions, start } from '../../src/server/main.js';
import { openApiDocument } from '../../src/server/openapi/document.js';
import { checkServiceSchema, type ServiceComponent } from '../../src/server/variants/schemas.js';
import { HTTP_API } from '../../src/server/variants/variants.js';

const document = openApiDocument(HTTP_API);

export const JSON_TYPE = { 'content-type': 'application/json' };
export const LINES_TYPE = { 'content-type': 'application/x-ndjson' };

export interface ServiceResponse {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came
  body: any;
}

/** A whole service on a free port over a data directory of its own. */
export class Service {
  readonly #directory: string;
  readonly #running: Running;

  private constructor(directory: string, running: Running) {
    this.#directory = directory;
    this.#running = running;
  }

  static async start(
    flags: Record<string, unknown> = {},
    options: StartOptions = {},
    env: Record<string, string> = {},
  ): Promise<Service> {
    const directory = await mkdtemp(path.join(tmpdir(), 'cosift-service-'));
    const { config } = resolveConfig({ port: 0, data: directory, logLevel: 'silent', ...flags }, env);
    return new Service(directory, await start(config, { print: () => undefined, ...options }));
  }

  get url(): string {
    return this.#running.url;
  }

  get directory(): string {
    return this.#directory;
  }

  get adminKey(): string {
    return this.#running.admin.key ?? '';
  }

  get running(): Running {
    return this.#running;
  }

  /** Sends `payload` as JSON unless it is text or bytes already. */
  async call(
    method: string,
    target: string,
    payload?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ServiceResponse> {
    const raw = typeof payload === 'string' || payload instanceof Uint8Array;
    const response = await fetch(this.url + target, {
      method,
      headers: {
        'x-api-key': this.adminKey,
        ...(payload === undefined ? {} : JSON_TYPE),
        ...headers,
      },
      ...(payload !== undefined && { body: raw ? (payload as string) : JSON.stringify(payload) }),
    });
    const text = await response.text();
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    const body = /[/+]json$/.test(type) ? JSON.parse(text) : text;
    const received = { status: response.status, headers: response.headers, text, body };
    checkDocumented(method, target, type, received);
    return received;
  }

  async stop(): Promise<void> {
    await this.#running.close();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Every response in every test must be documented in the OpenAPI document. */
function checkDocumented(
  method: string,
  target: string,
  type: string,
  { status, text, body }: ServiceResponse,
): void {
  const segments = target.split('?', 1)[0]?.split('/') ?? [];
  const operations = Object.entries(document.paths).flatMap(([template, methods]) => {
    const parts = template.split('/');
    const same =
      parts.length === segments.length &&
      parts.every((part, i) => part.startsWith('{') || part === segments[i]);
    const operation = methods[method.toLowerCase()];
    return same && operation !== undefined ? [{ operation, open: template.split('{').length }] : [];
  });
  const found = operations.sort((a, b) => a.open - b.open)[0]?.operation;
  if (found === undefined || status === 405) {
    expect([404, 405]).toContain(status);
    checkServiceSchema('Problem', body);
    return;
  }
  const documented = found.responses[status];
  expect(documented, `${method} ${target} responded ${status}: ${text.slice(0, 500)}`).toBeDefined();
  if (documented?.content === undefined) {
    expect(text, `${method} ${target}`).toBe('');
    return;
  }
  const content = documented.content as Record<string, { schema: { $ref?: string } }>;
  expect(Object.keys(content), `${method} ${target}`).toContain(type);
  const name = content[type]?.schema.$ref?.split('/').at(-1);
  if (name !== undefined) checkServiceSchema(name as ServiceComponent, body);
}

/** A vector of two values at `angle` to the first axis: its score against [1, 0] is the cosine. */
export function at(angle: number): number[] {
  return [Math.cos(angle), Math.sin(angle)];
}

/** Records whose scores against [1, 0] fall with their id, from 1. */
export function fan(count: number): { id: number; data: Data; vector: number[] }[] {
  return Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    data: { name: `record ${i + 1}`, even: i % 2 === 1, size: i + 1 },
    vector: at((i / count) * (Math.PI / 2)),
  }));
}
