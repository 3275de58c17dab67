import { type IncomingHttpHeaders, request } from 'node:http';
import type { Service } from './service.js';

export interface Exchange {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Sends a request with exactly these headers, and returns the bytes of the response as they were sent. */
export function exchange(
  service: Service,
  method: string,
  target: string,
  headers: Record<string, string | string[]> = {},
  body?: string,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const sent = request(`${service.url}${target}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('error', reject)
        .on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
    });
    sent.on('error', reject).end(body);
  });
}
