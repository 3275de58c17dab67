import { setImmediate } from 'node:timers';

/** Number of calls that one turn of the event loop makes. Each takes at most some tenths of a millisecond. */
const PER_TURN = 64;

/**
 * Returns a function that makes a call at once, but only some calls in one turn of the event loop, and none while
 * `isPaused`. The others follow in the next turns, in order. Without it, a thousand requests that arrive together hold up
 * what arrives after them.
 */
export function overTurns(isPaused: () => boolean = () => false): (call: () => void) => void {
  const waiting: (() => void)[] = [];
  let made = 0;
  const nextTurn = () => {
    const calls = isPaused() ? [] : waiting.splice(0, PER_TURN);
    made = calls.length;
    if (made > 0 || waiting.length > 0) setImmediate(nextTurn);
    for (const call of calls) call();
  };
  return (call) => {
    if (made === 0 && waiting.length === 0) setImmediate(nextTurn);
    if (made === PER_TURN || waiting.length > 0 || isPaused()) {
      waiting.push(call);
      return;
    }
    made += 1;
    call();
  };
}
