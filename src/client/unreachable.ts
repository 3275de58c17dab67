import { CosiftError } from '../errors.js';

const NO_TLS = 'it does not speak TLS; check whether the address begins with http or https';

/** Explanations of failed connections, by the code of the cause. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; `cosift serve` starts a service',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up at the moment',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'no connection was made in time; check the address and firewalls',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time; check the address and firewalls',
  UND_ERR_HEADERS_TIMEOUT: 'no response came in time',
  UND_ERR_BODY_TIMEOUT: 'no response came in time',
  ECONNRESET: 'the connection was closed before the response; the request may have been carried out',
  EPIPE: 'the connection was closed before the response; the request may have been carried out',
  UND_ERR_SOCKET: 'the connection was closed before the response; the request may have been carried out',
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};

/** Returns the error of a request without a response: `unreachable`, with `host`, `port` and `reason` in its fields. */
export function unreachable(url: string | URL, error: unknown): CosiftError {
  const { hostname: host, port: given, protocol, origin } = new URL(url);
  const port = Number(given) || (protocol === 'https:' ? 443 : 80);
  const { code, message } = rootOf(error);
  const reason = code ?? message;
  const meaning = code === undefined ? undefined : MEANINGS[code];
  const detail = `the service at ${origin} cannot be reached: ${meaning ?? message} (${reason})`;
  return new CosiftError('unreachable', detail, { fields: { host, port, reason }, cause: error });
}

/** Finds the cause with a code: `fetch` nests causes, and each address of a host has an error of its own. */
function rootOf(error: unknown): { code?: string; message: string } {
  let root = error as { code?: string; message?: string; cause?: unknown; errors?: readonly unknown[] };
  for (let next: unknown = root; next instanceof Error; next = root.cause ?? root.errors?.[0]) {
    root = next as Error & { code?: string };
    if (typeof root.code === 'string') break;
  }
  return {
    ...(typeof root?.code === 'string' && { code: root.code }),
    message: root?.message || String(error),
  };
}
