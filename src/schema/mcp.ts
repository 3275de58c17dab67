import { text } from './json-schema.js';

export const mcpMessage = {
  type: 'object',
  description: 'A message of the Model Context Protocol.',
  required: ['jsonrpc'],
  additionalProperties: true,
  properties: {
    jsonrpc: { type: 'string', const: '2.0', description: 'The version of JSON-RPC.' },
    id: {
      type: ['string', 'number'],
      description: 'Names the request in its response. A notification has none.',
    },
    method: text('What is asked for, such as `tools/call`.'),
    params: { type: 'object', description: 'The parameters of the method.', additionalProperties: true },
  },
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
} as const;
