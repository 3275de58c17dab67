import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { CosiftError } from '../../errors.js';
import { PROBLEM_TYPE, problemBody } from './problem-response.js';

/** Responds to bytes that Node cannot parse as an HTTP request, and closes the connection. */
export function refuseMalformedRequests(fault: Error & { code?: string }, socket: Socket): void {
  if (fault.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(fault);
    return;
  }
  const error = errorOf(fault);
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(error, requestId));
  socket.end(
    `HTTP/1.1 ${error.status} ${REASONS[error.status] ?? 'Error'}\r\n` +
      `content-type: ${PROBLEM_TYPE}\r\n` +
      `x-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function errorOf({ code }: { code?: string }): CosiftError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new CosiftError('request_timeout', 'the head of the request did not arrive in time');
    case 'HPE_HEADER_OVERFLOW':
      return new CosiftError('headers_too_large', 'the headers are larger than the server takes');
    default:
      return new CosiftError('invalid_request', 'this is not a valid HTTP request');
  }
}
