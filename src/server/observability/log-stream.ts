import type { FastifyBaseLogger } from 'fastify';

export type Logger = Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;

/** Lines of this turn of the event loop. */
let lines = '';
let isFlushedAtExit = false;
let isExiting = false;

/**
 * Writes the log to standard error, because standard output is only for the lines that `print` writes.
 *
 * All lines of one turn of the event loop are written by one system call: a call for each line takes a tenth of the time
 * of a search. When the process exits, also after an uncaught error, its last lines are written first.
 */
export const LOG_STREAM = {
  write(line: string): void {
    if (!isFlushedAtExit) process.once('exit', flushAtExit);
    isFlushedAtExit = true;
    if (lines === '' && !isExiting) setImmediate(flush);
    lines += line;
    if (isExiting) flush();
  },
};

function flushAtExit(): void {
  isExiting = true;
  flush();
}

function flush(): void {
  if (lines === '') return;
  const written = lines;
  lines = '';
  process.stderr.write(written);
}
