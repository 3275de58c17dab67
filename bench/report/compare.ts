import { readFileSync } from 'node:fs';
import { keyOf, type Measurement, type Run } from './measurement.js';
import { short } from './table.js';

/** The rows that two runs have in common, with the change. Smaller is better for times, larger for rates. */
export function compareRuns(beforePath: string, afterPath: string): string {
  const [before, after] = [beforePath, afterPath].map(
    (path) => JSON.parse(readFileSync(path, 'utf8')) as Run,
  );
  const old = new Map((before as Run).measurements.map((measurement) => [keyOf(measurement), measurement]));
  const lines = (after as Run).measurements.flatMap((measurement) => {
    const other = old.get(keyOf(measurement));
    return other === undefined ? [] : [lineOf(other, measurement)].flat();
  });
  const machines = sameMachine(before as Run, after as Run)
    ? []
    : ['The two runs are from different machines.', ''];
  return [
    ...machines,
    '| row | value | before | after | after / before |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

function lineOf(before: Measurement, after: Measurement): string[] {
  const name = [after.suite, after.cell, after.system, after.records, after.clients, after.page]
    .filter((part) => part !== undefined)
    .join(' · ');
  return (['p50_ms', 'p99_ms', 'per_second', 'recall'] as const).flatMap((value) => {
    const [old, now] = [before.values[value], after.values[value]];
    if (old === undefined || now === undefined) return [];
    return [`| ${name} | ${value} | ${short(old)} | ${short(now)} | ${short(now / old)} |`];
  });
}

function sameMachine(a: Run, b: Run): boolean {
  return a.machine.processor === b.machine.processor && a.machine.cores === b.machine.cores;
}
