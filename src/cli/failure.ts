import { CosiftError, type ErrorCode } from '../errors.js';

/** Prints a failure to stderr without a stack trace: in one line, except for the list of what is not installed. */
export function report(error: unknown): void {
  const text = describe(error);
  const isList = error instanceof CosiftError && error.code === 'not_installed';
  const lines = isList ? text.split('\n') : [text];
  console.error(`cosift: ${lines.map(printable).join('\n')}`);
}

/** Prints a warning to stderr in one line. */
export function warn(text: string): void {
  console.error(`cosift: warning: ${printable(text)}`);
}

/** Control characters, further line breaks, and characters that change the direction of the text after them. */
const CONTROL = /[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu;

/** Replaces control characters by spaces: a text of a server or a file must not control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(CONTROL, ' ');
}

/** {@link printable} for a text of several lines, which it keeps. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** A value as JSON for an output that may be a terminal; with `indent`, a member a line. */
export function shownJson(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, null, indent));
}

/** Replaces control characters in JSON by escapes; line breaks, which JSON has only between its values, stay. */
export function escaped(json: string): string {
  const codes = (text: string) => Array.from(text, hexEscape).join('');
  return json
    .split('\n')
    .map((line) => line.replaceAll(CONTROL, codes))
    .join('\n');
}

function hexEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What to do after a failure that a server reports. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'give the right key with --key or COSIFT_KEY',
  not_found: 'check --url, the address of the server without a path of its API',
};

/** Describes a failure in one line, with pointers into the request when the detail lacks them. */
export function describe(error: unknown): string {
  if (error instanceof CosiftError) {
    const places = error.problems
      .filter(({ detail }) => !error.detail.includes(detail))
      .map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`));
    // The cause may name directories. A service keeps it from its callers, but this user works on the directory.
    const cause = error.cause instanceof CosiftError ? [error.cause.detail] : [];
    const advice = ADVICE[error.code];
    return [
      error.detail,
      ...places,
      ...cause.filter((detail) => !error.detail.includes(detail)),
      ...(advice === undefined || error.fields.request_id === undefined ? [] : [advice]),
    ].join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  const system = (error.cause ?? error) as NodeJS.ErrnoException;
  switch (system.code) {
    case 'ENOENT':
      return `there is no file ${system.path}`;
    case 'EACCES':
      return `${system.path} may not be read or written by this user`;
    case 'ENOSPC':
      return `${system.path ?? 'the output'} cannot be written: the disk is full`;
    default:
      return error.message.split('\n')[0] ?? error.name;
  }
}
