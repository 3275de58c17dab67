/** Returns a signal that the first SIGINT or SIGTERM aborts; a second one ends the process at once. */
export function abortOnSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return controller.signal;
}

/** Ends a command that failed: prints what a stop by {@link abortOnSignal} means. Throws any other failure. */
export function endStopped(signal: AbortSignal, error: unknown, meaning: string): void {
  if (!signal.aborted) throw error;
  process.stderr.write(`stopped: ${meaning}\n`);
  process.exitCode = 130;
}
