import { existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { CosiftError } from '../errors.js';
import { count } from '../schema/plain.js';
import { abortOnSignal, endStopped } from './abort-on-signal.js';
import { writeBytes } from './output.js';
import { OutputFile } from './output-file.js';
import { ProgressBar } from './progress-bar.js';
import { withDatabase } from './records/near-names.js';
import { checkDatabase, openTarget, refuseStore, type TargetOptions, targetCommand } from './target.js';

interface BackupCommandOptions extends TargetOptions {
  output: string;
  database?: string;
}

const MIB = 2 ** 20;
/** Only the owner can read an archive, because it has secrets. */
const MODE = 0o600;

export function backupCommand(): Command {
  return targetCommand('backup')
    .description('write an archive of all databases, keys and webhooks, as they are at one moment')
    .requiredOption('--output <file>', 'file to write or replace; - for standard output')
    .option('--database <id>', 'only this database, without keys and webhooks', checkDatabase)
    .examples(
      'cosift backup --output cosift.tar',
      'cosift backup --url http://127.0.0.1:8080 --output - | gzip > cosift.tar.gz',
    )
    .action(run);
}

async function run(options: BackupCommandOptions): Promise<void> {
  const { output, database, data, url } = options;
  refuseStore(options, 'pg_dump makes a backup of a PostgreSQL database');
  if (url === undefined && !existsSync(data)) {
    throw new CosiftError('invalid_request', `there is no directory ${data}`);
  }
  if (output === '-' && process.stdout.isTTY) {
    throw new CosiftError(
      'invalid_request',
      'standard output is a terminal: redirect it to a file or a pipe',
    );
  }
  const file = output === '-' ? undefined : await OutputFile.at(output);
  const signal = abortOnSignal();
  const bar = new ProgressBar(process.stderr, 'MiB');
  await using databases = await openTarget(options);
  let size = 0;
  try {
    const onProgress = ({ bytes, total }: { bytes: number; total: number }) => {
      size = total;
      bar.update('written', Math.floor(bytes / MIB), Math.ceil(total / MIB));
    };
    const chunks = databases.backup({ database, signal, onProgress });
    const write = () =>
      file === undefined
        ? writeBytes(chunks, signal)
        : file.fill((stream) => pipeline(chunks, stream, { signal }), MODE);
    await (database === undefined ? write() : withDatabase(databases, database, write));
    bar.clear();
    const what = database === undefined ? 'everything' : `"${database}"`;
    process.stderr.write(`backed up ${what}: ${count(Math.ceil(size / MIB))} MiB\n`);
  } catch (error) {
    bar.clear();
    endStopped(signal, error, 'no backup was written');
  }
}
