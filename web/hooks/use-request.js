import { useLayoutEffect, useMemo, useRef, useState } from '../vendor/hooks.js';

/** Nothing is loaded. */
const NOTHING = {};

/**
 * Runs `load` whenever one of `inputs` changes: `delayMs` after the last change, and `spacingMs` after the last run. A new run
 * aborts the one before, so only the newest result is ever shown. `load` takes an `AbortSignal`; undefined loads nothing.
 *
 * @returns {{ value?: any, failure?: Error, isLoading: boolean, reload(): void }} the last result stays until the next
 */
export function useRequest(load, inputs, { delayMs = 0, spacingMs = 0 } = {}) {
  const [attempt, setAttempt] = useState(0);
  const [last, setLast] = useState(NOTHING);
  // Whether a result is the newest is told by what it belongs to, because setting a state would render everything twice.
  const question = useMemo(() => ({}), inputs);
  const run = useMemo(() => ({}), [question, attempt]);
  const lastRun = useRef(Number.NEGATIVE_INFINITY);
  const loader = useRef(load);
  loader.current = load;
  // An ordinary effect would wait for the next frame.
  useLayoutEffect(() => {
    if (loader.current === undefined) {
      setLast(NOTHING);
      return undefined;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const start = async () => {
      lastRun.current = performance.now();
      try {
        const value = await loader.current(signal);
        if (!signal.aborted) setLast({ question, run, value });
      } catch (failure) {
        if (!signal.aborted) setLast(({ value }) => ({ question, run, value, failure }));
      }
    };
    const waitMs = Math.max(delayMs, lastRun.current + spacingMs - performance.now());
    const timer = waitMs > 0 ? setTimeout(start, waitMs) : undefined;
    if (waitMs <= 0) start();
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [run]);
  return {
    value: load === undefined ? undefined : last.value,
    // A failure stays while the same is tried again, so that what is shown does not flicker.
    failure: last.question === question ? last.failure : undefined,
    isLoading: load !== undefined && last.run !== run,
    reload: () => setAttempt((number) => number + 1),
  };
}
