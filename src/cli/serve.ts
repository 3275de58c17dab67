import path from 'node:path';
import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.js';
import type { Config } from '../config/settings.js';
import type { Running } from '../server/main.js';
import { CliCommand } from './cli-command.js';
import { withSettings } from './config.js';
import { DEMO_DATABASE, ensureDemo } from './demo.js';
import { report, warn } from './failure.js';

export function serveCommand(): Command {
  return withSettings(new CliCommand('serve'))
    .description('serve a data directory over HTTP')
    .option(
      '--demo',
      `store the database "${DEMO_DATABASE}" of a few hundred facts, and show requests that search it`,
    )
    .examples('cosift serve --demo', 'cosift serve --data /var/lib/cosift --host 0.0.0.0 --log-level warn')
    .action(serve);
}

async function serve(flags: Record<string, unknown>): Promise<void> {
  const { config, sync, warnings } = resolveConfig(flags, process.env);
  for (const warning of warnings) warn(warning);
  const { configuredSyncs } = await import('../sync/index.js');
  const syncs = configuredSyncs(sync);
  const { start } = await import('../server/main.js');
  const { closeOnSignal } = await import('../server/close-on-signal.js');
  const running = await start(config, {
    syncs,
    onReady: ({ close }) => closeOnSignal(close, report),
    ...(flags.demo === true && {
      beforeServing: (databases) => ensureDemo(databases, config.data),
      database: DEMO_DATABASE,
    }),
  });
  if (flags.demo === true) console.log(requests(running, config));
  else console.log(`every operation is described at ${running.url}/docs`);
}

/** Returns requests to paste into a shell. The key is not shown, and not kept in the history. */
function requests({ url, admin }: Running, { adminKey, page }: Config): string {
  const file = path.relative(process.cwd(), admin.file);
  const key =
    adminKey !== undefined ? '$COSIFT_ADMIN_KEY' : `$(cat ${file.startsWith('..') ? admin.file : file})`;
  const request = (route: string, body: object) =>
    [
      `curl -s ${url}/v1/databases/${DEMO_DATABASE}/${route} \\`,
      `  -H "x-api-key: ${key}" -H "content-type: application/json" \\`,
      `  -d '${JSON.stringify(body)}'`,
    ].join('\n');
  return [
    '',
    'Search the demo:',
    '',
    request('records/search', {
      search: { text: 'tall tower with a view over a city' },
      filter: { condition: 'AND', rules: [{ column: 'height_m', operator: 'greater_than', value: 300 }] },
      pagination: { limit: 3 },
    }),
    '',
    'The same records with integer ids:',
    '',
    request('search', {
      search: { text: 'machine that lets people talk over a distance' },
      filter: { rules: [{ column: 'year', operator: 'less_than', value: 1900 }] },
      pagination: { limit: 3 },
    }),
    '',
    ...(page ? [`The page ${url}/#database=${DEMO_DATABASE} asks for the key, and does all of this.`] : []),
    `Every operation is described at ${url}/docs`,
    'Ctrl-C stops the server.',
  ].join('\n');
}
