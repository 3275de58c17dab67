import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The protocol before 2026-07-28, with a handshake, and since. */
export const ERAS = ['legacy', 'modern'] as const;
export type Era = (typeof ERAS)[number];

/** What a tool returned. */
export interface Returned {
  text: string;
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came
  structured: any;
}

/** An agent: the official client, connected to a server of MCP. It is closed at the end of the test. */
export class Agent {
  readonly client: Client;

  private constructor(era: Era) {
    const mode = era === 'legacy' ? 'legacy' : ({ pin: '2026-07-28' } as const);
    this.client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  }

  static async overHttp({ url }: { url: string }, key: string, era: Era = 'modern'): Promise<Agent> {
    const agent = new Agent(era);
    const headers = { authorization: `Bearer ${key}` };
    await agent.#connect(
      new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }),
    );
    return agent;
  }

  static async overStdio(args: readonly string[], era: Era = 'modern'): Promise<Agent> {
    const agent = new Agent(era);
    await agent.#connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [MAIN, 'mcp', ...args],
        stderr: 'inherit',
      }),
    );
    return agent;
  }

  async #connect(transport: Parameters<Client['connect']>[0]): Promise<void> {
    await this.client.connect(transport);
    onTestFinished(() => this.client.close());
  }

  async call(name: string, given: Record<string, unknown>): Promise<Returned> {
    const {
      content,
      isError = false,
      structuredContent,
    } = await this.client.callTool({
      name,
      arguments: given,
    });
    const [block] = content as { text: string }[];
    return { text: block?.text ?? '', isError, structured: structuredContent };
  }

  async tools(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }
}
