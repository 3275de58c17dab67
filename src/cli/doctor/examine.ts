import { readConfigFile } from '../../config/index.js';
import { examineDirectory, isDirectory } from '../../databases/index.js';
import { CosiftError, isCode } from '../../errors.js';
import type { DoctorCheck } from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import { checkFiles } from '../../server/doctor/check-files.js';
import { abortOnSignal, endStopped } from '../abort-on-signal.js';
import { printable, shownJson } from '../failure.js';
import { duration, ProgressBar } from '../progress-bar.js';
import { openServer, refuseStore, type TargetOptions } from '../target.js';

export interface DoctorOptions extends TargetOptions {
  repair?: true;
  json?: true;
}

/** Runs the checks, prints each, and sets the exit code. */
export async function examine(options: DoctorOptions): Promise<void> {
  refuseStore(options, 'PostgreSQL checks its files itself, with data checksums and pg_amcheck');
  const signal = abortOnSignal();
  const bar = new ProgressBar();
  const started = Date.now();
  const found = { ok: 0, problem: 0, repaired: 0 };
  let checks: AsyncIterable<DoctorCheck>;
  if (options.url === undefined) checks = ofDirectory(options, signal, bar);
  else checks = ofServer(options.url, options, signal);
  try {
    for await (const check of checks) {
      found[check.status] += 1;
      bar.clear();
      console.log(options.json ? shownJson(check) : lineOf(check));
    }
  } catch (error) {
    bar.clear();
    return endStopped(signal, error, 'not everything was checked');
  }
  const took = duration(Date.now() - started);
  if (found.problem > 0) process.exitCode = 1;
  if (options.json) return;
  const repaired = found.repaired === 0 ? '' : `${count(found.repaired)} repaired, `;
  const problems = found.problem === 0 ? 'no problems' : `${count(found.problem)} problems`;
  console.log(`${count(found.ok)} checks in order, ${repaired}${problems}, in ${took}`);
}

async function* ofDirectory(
  { data, models, repair }: DoctorOptions,
  signal: AbortSignal,
  bar: ProgressBar,
): AsyncGenerator<DoctorCheck> {
  if (!isDirectory(data)) {
    throw new CosiftError('invalid_request', `there is no data directory "${data}": name it with --data`);
  }
  const onProgress = (done: number, records: number) => bar.update('checked', done, records);
  const files = async function* () {
    yield configCheck();
    yield* checkFiles(data);
  };
  try {
    yield* examineDirectory(
      { directory: data, models, repair: repair === true, files },
      { signal, onProgress },
    );
  } catch (error) {
    if (!isCode(error, 'data_locked')) throw error;
    const detail = `${error.detail}; to check the databases of a running server, give --url`;
    throw new CosiftError('data_locked', detail, { cause: error });
  }
}

async function* ofServer(
  url: string,
  options: DoctorOptions,
  signal: AbortSignal,
): AsyncGenerator<DoctorCheck> {
  if (options.repair) {
    throw new CosiftError('invalid_request', '--repair needs the directory: stop the server and give --data');
  }
  const client = await openServer(url, options);
  try {
    yield* client.doctor({ signal });
  } finally {
    await client.close();
  }
}

/** Checks the settings file of the working directory, which `serve` would read. */
function configCheck(): DoctorCheck {
  try {
    const { path, values } = readConfigFile(undefined);
    const detail = values.size === 0 ? `there is no ${path} here` : `${path} has ${values.size} settings`;
    return { check: 'config', status: 'ok', detail };
  } catch (error) {
    const detail = (error as Error).message;
    return { check: 'config', status: 'problem', detail, problems: [{ detail }], advice: 'correct the file' };
  }
}

const NAME_WIDTH = 24;

function lineOf({ check, database, status, detail, advice }: DoctorCheck): string {
  const name = printable(database === undefined ? check : `${database}: ${check}`);
  const lines = [`${status.padEnd(8)}  ${name.padEnd(NAME_WIDTH)}  ${printable(detail)}`];
  if (advice !== undefined) lines.push(`${' '.repeat(8)}  ${''.padEnd(NAME_WIDTH)}  → ${printable(advice)}`);
  return lines.join('\n');
}
