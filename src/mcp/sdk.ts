// All that is used of the SDK of MCP. The build replaces this module by a bundle of these parts, because the packages with
// all that they bring are far larger.
export type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
export {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server';
export { serveStdio } from '@modelcontextprotocol/server/stdio';
