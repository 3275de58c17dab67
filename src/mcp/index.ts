export { LineTransport } from './line-transport.js';
export { createMcpHandler, serveStdio } from './sdk.js';
export { makeServer } from './server.js';
export type { Target } from './target.js';
export { remoteTarget } from './target.js';
