import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** A secret in the form of Standard Webhooks: `whsec_` and 256 bits as base64. */
export function makeSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/**
 * The headers that let a receiver check a delivery (Standard Webhooks 1.0): the signature covers the id, the
 * time in seconds and the body, so that none of them can be changed and an old delivery can be told.
 */
export function signatureHeaders(
  secret: string,
  messageId: string,
  atSeconds: number,
  body: string,
): Record<string, string> {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${messageId}.${atSeconds}.${body}`).digest('base64');
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': `v1,${signature}`,
  };
}
