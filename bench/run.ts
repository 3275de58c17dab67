// The bench's entry: `npm run bench -- --help`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { native } from '../src/store/local/binding.js';
import { SEED } from './data/dataset.js';
import { debianKey, hasDebian } from './data/debian.js';
import { type Options, readOptions } from './options.js';
import { installPeers } from './peers/modules.js';
import { CARDS } from './peers/registry.js';
import { chartsOf } from './report/charts.js';
import { compareRuns } from './report/compare.js';
import { describeMachine } from './report/machine.js';
import type { Run } from './report/measurement.js';
import { markdownOf } from './report/table.js';
import { SUITES } from './suites/registry.js';
import type { Session } from './suites/session.js';

const options = readOptions(process.argv.slice(2));
if (options.compare === undefined) write(await measure(options), options);
else process.stdout.write(`${compareRuns(...options.compare)}\n`);

async function measure({ full, datasets: made, real, systems, suites }: Options): Promise<Run> {
  if (systems.size > 0 && SUITES.some(({ name, peers }) => peers && suites.has(name))) installPeers();
  const begun = performance.now();
  const started = new Date().toISOString();
  const say = (text: string) =>
    process.stderr.write(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(5)} s  ${text}\n`);
  const datasets = real && hasDebian() ? [...made, await debianKey(say)] : made;
  const session: Session = {
    full,
    datasets,
    deep: full ? datasets : [made.reduce((a, b) => (a.records > b.records ? a : b))],
    systems,
    measurements: [],
    failures: [],
    say,
  };
  for (const suite of SUITES) {
    if (!suites.has(suite.name)) continue;
    try {
      await suite.run(session);
    } catch (error) {
      session.failures.push(`suite ${suite.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  for (const failure of session.failures) session.say(`not measured: ${failure}`);
  return {
    started,
    seconds: (performance.now() - begun) / 1_000,
    machine: { ...describeMachine(), kernel: native().kernelName() },
    seed: SEED,
    measurements: session.measurements,
    failures: session.failures,
  };
}

function write(run: Run, { json, markdown, record }: Options): void {
  const text = markdownOf(run);
  process.stdout.write(`${text}\n`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(run, null, 1)}\n`);
  if (markdown !== undefined) writeFileSync(markdown, text);
  if (record !== undefined) {
    mkdirSync(record, { recursive: true });
    const charts = chartsOf(
      run.measurements,
      new Set(CARDS.filter(({ ours }) => ours).map(({ name }) => name)),
    );
    for (const [file, chart] of charts) writeFileSync(join(record, file), chart);
    const pictures = [...charts.keys()].map((file) => `![${file.replace('.svg', '')}](${file})\n`);
    writeFileSync(join(record, 'report.md'), `${text}\n${pictures.join('\n')}`);
    writeFileSync(join(record, 'run.json'), `${JSON.stringify(run)}\n`);
  }
  // A run without all figures must not look complete.
  if (run.failures.length > 0) process.exitCode = 1;
}
