/**
 * Work that never waits, such as thousands of idle reconciles or a long list, blocks requests and lease renewals. After
 * this long, deferrable work yields.
 */
const LONGEST_TURN_MS = 2;

/**
 * `background` is work that nothing waits for, such as the next of many keys: each turn runs one piece of it after all
 * other work.
 */
type Rank = "foreground" | "background";

// One event loop per process.
const waiting: Readonly<Record<Rank, (() => void)[]>> = { foreground: [], background: [] };
let beganMs = 0;
let isReleasing = false;

/** Await between pieces of work: continues at once in a young turn of the event loop, else in a later one. */
export function yieldIfDue(rank: Rank = "foreground"): Promise<void> | undefined {
  if (!isAnyWaiting() && isYoung()) return undefined;
  return new Promise((goOn) => enqueue(rank, goOn));
}

/** Await before work that must not delay the current one: continues in a later turn of the event loop, however young this is. */
export function laterTurn(rank: Rank): Promise<void> {
  return new Promise((goOn) => {
    setImmediate(() => enqueue(rank, goOn));
  });
}

function enqueue(rank: Rank, goOn: () => void): void {
  waiting[rank].push(goOn);
  if (!isReleasing) setImmediate(beginTurn);
  isReleasing = true;
}

const isAnyWaiting = () => waiting.foreground.length > 0 || waiting.background.length > 0;
const isYoung = () => performance.now() - beganMs <= LONGEST_TURN_MS;

/** One piece of each rank, however long the other takes. */
function beginTurn(): void {
  beganMs = performance.now();
  waiting.foreground.shift()?.();
  waiting.background.shift()?.();
  releaseNextLater();
}

/**
 * A tick requested in a microtask comes when no microtask is left: by then the released work has run, over any number
 * of awaits, until it waits for something else. As a further microtask the next piece would begin between two of those
 * awaits, and so would all others.
 */
function releaseNextLater(): void {
  queueMicrotask(() => process.nextTick(releaseNext));
}

/** One by one: the next piece runs after the previous one, if time is left. */
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
