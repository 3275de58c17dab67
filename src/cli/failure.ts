import { CosiftError } from '../errors.js';

/** Prints one line about a failure to stderr; what callers of a shell need, never a stack. */
export function report(error: unknown): void {
  console.error(`cosift: ${printable(describe(error))}`);
}

/** Prints one line to stderr about something that does not stop the command. */
export function warn(text: string): void {
  console.error(`cosift: warning: ${text}`);
}

/** Without control characters: what a server or a file says must not steer the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

/** What went wrong in one line, with the places in the request where they add something. */
export function describe(error: unknown): string {
  if (error instanceof CosiftError) {
    const places = error.problems
      .filter(({ detail }) => !error.detail.includes(detail))
      .map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`));
    // What a service must not tell its callers is told to whoever works on the directory.
    const cause = error.cause instanceof CosiftError ? [error.cause.detail] : [];
    return [error.detail, ...places, ...cause.filter((detail) => !error.detail.includes(detail))].join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  const system = (error.cause ?? error) as NodeJS.ErrnoException;
  switch (system.code) {
    case 'ENOENT':
      return `there is no file ${system.path}`;
    case 'EACCES':
      return `${system.path} may not be read or written by this user`;
    case 'EADDRINUSE':
      return 'the port is in use; choose another with --port (0: any free one)';
    default:
      return error.message.split('\n')[0] ?? error.name;
  }
}
