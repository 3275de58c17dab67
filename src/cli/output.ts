import { pipeline } from 'node:stream/promises';

/** Standard output was closed by its reader, as after `cosift query … | head`. */
export class OutputClosed extends Error {}

/** The exit code of a command whose output was closed: that of a program that SIGPIPE ends. */
export const OUTPUT_CLOSED_CODE = 141;

/**
 * Writes lines to standard output, and waits until they are written, so that a slow reader does not fill the memory.
 *
 * @throws {OutputClosed} when nobody reads the output any more.
 */
export async function writeLines(lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(`${lines.join('\n')}\n`, (error) => {
      if (error == null) resolve();
      else reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? new OutputClosed() : error);
    });
  });
}

/**
 * Writes bytes to standard output.
 *
 * @throws {OutputClosed} when nobody reads the output any more.
 */
export async function writeBytes(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(bytes, process.stdout, { signal, end: false });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EPIPE' ? new OutputClosed() : error;
  }
}

/** Prints a note for the user to standard error: it is no part of the output. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** The width of the terminal that shows the output; infinite when no terminal does. Some terminals say that they have 0 columns. */
export function outputWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}
