import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** Generates a secret in the form of Standard Webhooks: `whsec_` and 256 bits as base64. */
export function generateSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/**
 * Returns the headers with which a receiver checks a delivery (Standard Webhooks 1.0). The signature covers the id, the
 * time in seconds and the body, so that nobody can change them, and the receiver can recognise an old delivery.
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
