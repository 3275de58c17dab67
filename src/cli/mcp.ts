import type { Command } from 'commander';
import type { Action } from '../schema/keys.js';
import { report, warn } from './failure.js';
import { SharedTarget } from './shared-target.js';
import { type TargetOptions, targetCommand } from './target.js';

interface McpOptions extends TargetOptions {
  allowWrite?: true;
}

export function mcpCommand(): Command {
  return targetCommand('mcp')
    .description('serve the Model Context Protocol on standard input and output, for an agent that starts it')
    .option('--allow-write', 'also offer the tools that write and delete records')
    .examples(
      'cosift mcp --data ./data',
      'cosift mcp --url https://search.example.com --key cosift_…',
      'cosift mcp --data ./data --allow-write',
    )
    .action(serve);
}

async function serve(options: McpOptions): Promise<void> {
  const { LineTransport, makeServer, serveStdio } = await import('../mcp/index.js');
  const { closeOnSignal } = await import('../server/close-on-signal.js');
  // Opened by the first call: a client may start a process only to learn which version it speaks.
  const target = new SharedTarget(options);
  const open = () => target.open();
  const server = async () => {
    const allowed = await target.actions();
    const may = (action: Action) =>
      (allowed?.includes(action) ?? true) && (options.allowWrite === true || action !== 'records.write');
    return makeServer({ open, may });
  };
  const transport = new LineTransport(process.stdin, process.stdout);
  const handle = serveStdio(server, {
    transport,
    onerror: ({ message }) => warn(message),
  });
  const close = async () => {
    await handle.close();
    await target.close();
  };
  closeOnSignal(close, report);
  await transport.finished;
  await close();
}
