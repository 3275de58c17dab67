import type { SyncStatus } from '../../sync/index.js';
import { printable } from '../failure.js';
import { count, plural } from '../progress-bar.js';

/** The state of a source in one line. Commands need the options of a source that is not in the config file. */
export function statusLine(name: string, isConfigured: boolean, status: SyncStatus): string {
  const { records, refused } = status;
  const confirm = isConfigured
    ? `\`cosift sync confirm ${name}\``
    : '`cosift sync confirm` with the options of the source';
  const facts = [
    stateOf(confirm, status),
    plural(records, 'record'),
    ...(refused === 0 ? [] : [`${count(refused)} refused`]),
  ];
  return printable(`${name}  ${facts.join(' · ')}`);
}

/** The state of a source as one line of JSON. */
export function statusJson(name: string, status: SyncStatus): string {
  const { state, inStepAsOf, records, refused, refusedRows, withheld, reason, nextAttempt } = status;
  return JSON.stringify({
    name,
    state,
    in_step_as_of: inStepAsOf,
    records,
    refused,
    refused_rows: refusedRows,
    withheld,
    reason,
    next_attempt: nextAttempt,
  });
}

function stateOf(confirm: string, { state, inStepAsOf, withheld, reason, nextAttempt }: SyncStatus): string {
  const asOf = inStepAsOf === undefined ? undefined : `as of ${clock(inStepAsOf)} (${ago(inStepAsOf)})`;
  switch (state) {
    case 'in_step':
      return `in step ${asOf}`;
    case 'withheld':
      return `withheld ${asOf}: the source lacks ${plural(withheld, 'record')}, which ${confirm} deletes`;
    case 'waiting':
      return `waiting: ${reason}${nextAttempt === undefined ? '' : `; next attempt at ${clock(nextAttempt)}`}`;
    case 'failed':
      return `failed: ${reason}`;
    case 'reading':
      return 'reading';
    case 'new':
      return 'not read yet';
  }
}

/** The time of a day in the zone of this machine. */
function clock(moment: Date): string {
  return moment.toLocaleTimeString('en-GB');
}

function ago(moment: Date): string {
  const seconds = Math.max(0, Math.round((Date.now() - moment.getTime()) / 1000));
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
