import type { SyncDescription } from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import { printable } from '../failure.js';
import { duration, plural } from '../progress-bar.js';

/** The state of a source in one line. `confirm` is the command that deletes what is withheld. */
export function statusLine(description: SyncDescription, confirm: string): string {
  const { name, records, refused, in_step_as_of, by_scan, last_whole_pass: whole } = description;
  const facts = [stateOf(description, confirm), plural(records, 'record')];
  if (by_scan !== undefined) facts.push(`by scan: ${by_scan}`);
  if (refused > 0) facts.push(`${count(refused)} refused`);
  // Otherwise it is the pass that the line is about.
  if (whole !== undefined && in_step_as_of !== undefined && whole.at < in_step_as_of) {
    facts.push(
      `all ${plural(whole.read, 'row')} compared at ${clock(whole.at)}: ${count(whole.written)} written, ${count(whole.deleted)} deleted`,
    );
  }
  return printable(`${name}  ${facts.join(' · ')}`);
}

function stateOf(
  { state, in_step_as_of: moment, withheld, reason, next_attempt: next, progress }: SyncDescription,
  confirm: string,
): string {
  const asOf = moment === undefined ? '' : ` as of ${clock(moment)} (${ago(moment)})`;
  switch (state) {
    case 'in_step':
      return `in step${asOf}`;
    case 'withheld':
      return `withheld${asOf}: the source lacks ${plural(withheld, 'record')}, which ${confirm} deletes`;
    case 'waiting':
      return `waiting: ${reason}${next === undefined ? '' : `; next attempt at ${clock(next)}`}`;
    case 'failed':
      return `failed: ${reason}`;
    case 'reading':
      return progress === undefined ? 'reading' : `reading: ${progressOf(progress)}`;
    case 'new':
      return 'not read yet';
  }
}

function progressOf({ rows, total, ...rate }: NonNullable<SyncDescription['progress']>): string {
  return [
    total === undefined ? plural(rows, 'row') : `${count(rows)} of ${plural(total, 'row')}`,
    `${count(Math.round(rate.rows_per_second))}/s`,
    ...(rate.seconds_left === undefined ? [] : [`${duration(rate.seconds_left * 1_000)} left`]),
  ].join(', ');
}

/** The time of a day in the zone of this machine. */
function clock(moment: string): string {
  return new Date(moment).toLocaleTimeString('en-GB');
}

function ago(moment: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(moment)) / 1000));
  const [number, unit] =
    seconds < 120
      ? [seconds, 's']
      : seconds < 7_200
        ? [seconds / 60, 'min']
        : seconds < 172_800
          ? [seconds / 3_600, 'h']
          : [seconds / 86_400, 'days'];
  return `${Math.floor(number as number)} ${unit} ago`;
}
