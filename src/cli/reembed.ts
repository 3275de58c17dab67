import type { Command } from 'commander';
import type { Database } from '../api/index.js';
import { CosiftError } from '../errors.js';
import type { Reembedding } from '../schema/index.js';
import { count } from '../schema/plain.js';
import { abortOnSignal, endStopped } from './abort-on-signal.js';
import { duration, ProgressBar, plural } from './progress-bar.js';
import { withDatabase } from './records/near-names.js';
import { checkDatabase, openTarget, type TargetOptions, targetCommand } from './target.js';

interface ReembedOptions extends TargetOptions {
  model?: string;
  cancel?: true;
}

export function reembedCommand(): Command {
  return targetCommand('reembed')
    .description('embed the records of a database with another model')
    .argument('<database>', 'the database', checkDatabase)
    .option(
      '--model <name>',
      'the model: the built-in one, multilingual-e5-small if its package is installed, or one of --models',
    )
    .option('--cancel', 'cancel the unfinished re-embedding; the database stays as it was')
    .examples(
      'cosift reembed facts --models e5=/models/e5-small --model e5',
      'cosift reembed facts --url http://127.0.0.1:8080 --cancel',
    )
    .action(run);
}

async function run(id: string, options: ReembedOptions): Promise<void> {
  const { model, cancel } = options;
  if ((model === undefined) === (cancel === undefined)) {
    throw new CosiftError('invalid_request', 'give either --model or --cancel');
  }
  await using databases = await openTarget(options);
  const database = databases.database(id);
  await withDatabase(databases, id, async () => {
    if (model !== undefined) return await embedAgain(database, model, options);
    await database.cancelReembedding();
    console.log(`cancelled: "${id}" stays as it was`);
  });
}

/** Begins a re-embedding, or continues the one with this model, and shows its progress until it is done. */
export async function embedAgain(database: Database, model: string, { url }: TargetOptions): Promise<void> {
  const stop = abortOnSignal();
  const started = Date.now();
  const bar = new ProgressBar();
  const { id } = database;
  let last: Reembedding | undefined;
  try {
    const onProgress = (state: Reembedding) => {
      last = state;
      bar.update('embedded', state.done, state.records);
    };
    // After a stop, the next run of the command continues.
    const { done } = await database.reembed(model, { signal: stop, onProgress, cancelOnAbort: false });
    bar.clear();
    console.log(
      `${plural(done, 'record')} of "${id}" ${done === 1 ? 'has' : 'have'} vectors of ${model}, in ${duration(Date.now() - started)}`,
    );
  } catch (error) {
    bar.clear();
    const what = `${count(last?.done ?? 0)} of ${count(last?.records ?? 0)} records have their new vector`;
    const next = url === undefined ? 'Run the same command to go on' : 'The server goes on';
    endStopped(stop, error, `${what}. ${next}; \`cosift reembed ${id} --cancel\` removes them.`);
  }
}
