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
