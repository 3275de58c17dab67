import type { Measurement, Run, Values } from './measurement.js';

const FACTS = ['cell', 'data', 'records', 'dimensions', 'page', 'clients', 'selectivity', 'system'] as const;

/** The rows of each suite under a heading, as Markdown that is aligned for terminals. */
export function markdownOf(run: Run): string {
  const machine = Object.entries(run.machine).map(([name, value]) => `- ${name}: ${value}`);
  const failures = run.failures.map((failure) => `- not measured: ${failure}`);
  return [
    '# Bench',
    '',
    `${run.started}, ${run.seconds.toFixed(0)} s, seed ${run.seed}.`,
    '',
    ...machine,
    ...failures,
    '',
    ...suitesOf(run.measurements),
  ].join('\n');
}

/** Only the tables. */
export function suitesOf(measurements: readonly Measurement[]): string[] {
  const suites = [...new Set(measurements.map(({ suite }) => suite))];
  return suites.flatMap((suite) => [
    `## ${suite}`,
    '',
    ...tableOf(measurements.filter((measurement) => measurement.suite === suite)),
    '',
  ]);
}

function tableOf(rows: readonly Measurement[]): string[] {
  const facts = FACTS.filter((fact) => rows.some((row) => row[fact] !== undefined));
  const values = [...new Set(rows.flatMap((row) => Object.keys(row.values)))] as (keyof Values)[];
  const cells = rows.map((row) => [
    ...facts.map((fact) => (row[fact] === undefined ? '' : plain(row[fact]))),
    ...values.map((value) => (row.values[value] === undefined ? '' : short(row.values[value]))),
  ]);
  const head = [...facts, ...values].map((name) => name.replaceAll('_', ' '));
  const widths = head.map((name, i) =>
    Math.max(name.length, ...cells.map((row) => (row[i] as string).length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] as number)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)];
}

function plain(value: string | number): string {
  return typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 4 }) : value;
}

/** Formats with three digits, or four for shares close to 1. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  if (value > 0.99 && value < 1) return value.toFixed(4);
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return Math.abs(value) < 0.001 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}
