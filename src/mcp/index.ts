export { createMcpHandler } from '@modelcontextprotocol/server';
export { serveStdio } from '@modelcontextprotocol/server/stdio';
export { LineTransport } from './line-transport.js';
export { makeServer } from './server.js';
export type { Target } from './target.js';
export { remoteTarget } from './target.js';
