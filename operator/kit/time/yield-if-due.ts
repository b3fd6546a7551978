/**
 * Work that never waits is one turn of the event loop however much of it there is: thousands of reconciles with nothing to
 * do, pages of long lists that arrive at once. Meanwhile no request is answered and no lease renewed. After so long, work
 * that can wait yields to the event loop.
 */
const LONGEST_TURN_MS = 2;

// A process has one event loop.
const waiting: (() => void)[] = [];
let beganMs = 0;
let isReleasing = false;

/** To be awaited between pieces of work: goes on at once while this turn of the event loop is young, else in a later one. */
export function yieldIfDue(): Promise<void> | undefined {
  if (waiting.length === 0 && isYoung()) return undefined;
  return new Promise((goOn) => {
    waiting.push(goOn);
    if (!isReleasing) setImmediate(beginTurn);
    isReleasing = true;
  });
}

const isYoung = () => performance.now() - beganMs <= LONGEST_TURN_MS;

function beginTurn(): void {
  beganMs = performance.now();
  releaseNext();
}

/** One after the other: the next when what the one before went on with has run, if it has left time for it. */
function releaseNext(): void {
  isReleasing = waiting.length > 0;
  if (!isReleasing) return;
  if (!isYoung()) {
    setImmediate(beginTurn);
    return;
  }
  waiting.shift()?.();
  queueMicrotask(releaseNext);
}
