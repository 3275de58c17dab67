import { constants } from 'node:os';
import closeWithGrace from 'close-with-grace';

/**
 * Events that close-with-grace would handle besides SIGINT and SIGTERM. Node's own behaviour is right for these: in
 * particular, a handler of SIGSEGV would keep a broken process running.
 */
const SKIPPED: closeWithGrace.AllEvents[] = [
  'SIGHUP',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'uncaughtException',
  'unhandledRejection',
  'beforeExit',
];

/**
 * On SIGINT or SIGTERM, calls `close` and ends the process: with exit code 0, or with 1 after `onFailure` if `close`
 * fails. A second signal ends the process at once, with the exit code of a process that the signal killed.
 */
export function closeOnSignal(close: () => Promise<void>, onFailure: (error: unknown) => void): void {
  closeWithGrace(
    {
      // `close` has time limits of its own.
      delay: false,
      logger: false,
      skip: SKIPPED,
      onSecondSignal: (signal) => process.exit(128 + constants.signals[signal]),
    },
    async () => {
      try {
        await close();
      } catch (error) {
        onFailure(error);
        throw error;
      }
    },
  );
}
