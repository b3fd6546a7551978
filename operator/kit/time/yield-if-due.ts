/**
 * Work that never waits is one turn of the event loop however much of it there is: thousands of reconciles with nothing to
 * do, pages of long lists that arrive at once. Meanwhile no request is answered and no lease renewed. After so long, work
 * that can wait yields to the event loop.
 */
const LONGEST_TURN_MS = 2;

/** `background` is work that nothing waits for, such as the next of many keys: in each turn all other work goes first, but for one piece. */
export type Rank = "foreground" | "background";

// A process has one event loop.
const waiting: Readonly<Record<Rank, (() => void)[]>> = { foreground: [], background: [] };
let beganMs = 0;
let isReleasing = false;

/** To be awaited between pieces of work: goes on at once while this turn of the event loop is young, else in a later one. */
export function yieldIfDue(rank: Rank = "foreground"): Promise<void> | undefined {
  if (!isAnyWaiting() && isYoung()) return undefined;
  return new Promise((goOn) => {
    waiting[rank].push(goOn);
    if (!isReleasing) setImmediate(beginTurn);
    isReleasing = true;
  });
}

const isAnyWaiting = () => waiting.foreground.length > 0 || waiting.background.length > 0;
const isYoung = () => performance.now() - beganMs <= LONGEST_TURN_MS;

/** One piece of each, however long the other takes. */
function beginTurn(): void {
  beganMs = performance.now();
  waiting.foreground.shift()?.();
  waiting.background.shift()?.();
  releaseNextLater();
}

/**
 * A tick that is asked for in a microtask comes when no microtask is left: by then what was released has run on, over
 * however many awaits, until it waits for something else. As another microtask the next one would begin between two of
 * those awaits, and so would all others, before any of them had taken time.
 */
function releaseNextLater(): void {
  queueMicrotask(() => process.nextTick(releaseNext));
}

/** One after the other: the next when what the one before went on with has run, if it has left time for it. */
function releaseNext(): void {
  isReleasing = isAnyWaiting();
  if (!isReleasing) return;
  if (!isYoung()) {
    setImmediate(beginTurn);
    return;
  }
  (waiting.foreground.shift() ?? waiting.background.shift())?.();
  releaseNextLater();
}
