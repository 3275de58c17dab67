import { setImmediate } from 'node:timers';

/**
 * Returns a function that makes a call at once, but only `perTurn` calls in one turn of the event loop, and none while
 * `isPaused`. The others follow in the next turns, in order. Without it, a thousand requests that arrive together hold up
 * what arrives after them. The calls of a turn should take at most some milliseconds.
 */
export function overTurns(
  perTurn: number,
  isPaused: () => boolean = () => false,
): (call: () => void) => void {
  const waiting: (() => void)[] = [];
  let made = 0;
  const nextTurn = () => {
    const calls = isPaused() ? [] : waiting.splice(0, perTurn);
    made = calls.length;
    if (made > 0 || waiting.length > 0) setImmediate(nextTurn);
    for (const call of calls) call();
  };
  return (call) => {
    if (made === 0 && waiting.length === 0) setImmediate(nextTurn);
    if (made === perTurn || waiting.length > 0 || isPaused()) {
      waiting.push(call);
      return;
    }
    made += 1;
    call();
  };
}
