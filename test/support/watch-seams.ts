import type { KubeObject } from "../../operator/kit/kube-object.ts";
import type { RequestSeam } from "../../operator/kit/kube-request.ts";

/** One line of a watch's stream, as it is on the wire. */
interface WatchLine {
  readonly type: string;
  readonly object: object;
}

/**
 * What happens to the events of watches: `cut` breaks the connection at the next event, `expire` ends it with 410 Gone,
 * `hold` delivers nothing until it is over, `repeat` delivers each twice, `reorder` lets events of different objects
 * overtake each other: no two objects are promised an order.
 */
export type WatchTrouble = "none" | "cut" | "expire" | "hold" | "repeat" | "reorder";

/** Stands in every watch of an operator. */
export interface TroubledWatches {
  readonly seam: RequestSeam;
  /** From now on, in watches that run too. */
  set(trouble: WatchTrouble): void;
  /** How many events met trouble. */
  readonly met: number;
}

export function troubledWatches(): TroubledWatches {
  const state: State = { trouble: "none", met: 0, changed: Promise.withResolvers() };
  return {
    async seam(_request, next) {
      const answer = await next();
      return answer.stream === undefined ? answer : { ...answer, stream: troubled(answer.stream, state) };
    },
    set(trouble) {
      state.trouble = trouble;
      state.changed.resolve();
      state.changed = Promise.withResolvers();
    },
    get met() {
      return state.met;
    },
  };
}

interface State {
  trouble: WatchTrouble;
  met: number;
  changed: PromiseWithResolvers<void>;
}

async function* troubled(stream: AsyncIterable<Uint8Array>, state: State): AsyncGenerator<Uint8Array> {
  for await (const line of overtaking(lines(stream), state)) {
    while (state.trouble === "hold") await state.changed.promise;
    if (isEvent(line) && state.trouble !== "none") state.met += 1;
    yield* delivered(line, state.trouble).map(bytes);
    if (state.trouble === "expire") return;
  }
}

/** The lines that come out for one. */
function delivered(line: WatchLine, trouble: WatchTrouble): WatchLine[] {
  if (trouble === "cut") throw new Error("the connection was reset");
  if (trouble === "expire") return [EXPIRED];
  return trouble === "repeat" ? [line, line] : [line];
}

/**
 * While that is wanted, every other event waits for the next one, and comes after it unless both are of one object. None
 * is lost: what waits comes when it is over, or the stream ends.
 */
async function* overtaking(source: AsyncGenerator<WatchLine>, state: State): AsyncGenerator<WatchLine> {
  let late: WatchLine | undefined;
  for await (const line of orChange(source, state)) {
    const waits = late === undefined && line !== undefined && isEvent(line) && state.trouble === "reorder";
    if (!waits) yield* inOrder(late, line);
    late = waits ? line : undefined;
  }
  yield* inOrder(late, undefined);
}

/** The lines, and `undefined` whenever another trouble is set. */
async function* orChange(source: AsyncGenerator<WatchLine>, state: State): AsyncGenerator<WatchLine | undefined> {
  let coming: Promise<IteratorResult<WatchLine>> | undefined;
  try {
    for (;;) {
      coming ??= source.next();
      const came = await Promise.race([coming, state.changed.promise]);
      if (came !== undefined) coming = undefined;
      if (came?.done) return;
      yield came?.value;
    }
  } finally {
    // A line that is still waited for ends with its connection.
    if (coming === undefined) await source.return(undefined);
    else coming.catch(() => undefined);
  }
}

function inOrder(late: WatchLine | undefined, line: WatchLine | undefined): WatchLine[] {
  if (late === undefined || line === undefined) return [late, line].filter((one) => one !== undefined);
  return keyOf(late) === keyOf(line) ? [late, line] : [line, late];
}

const EXPIRED = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } } as const;
const isEvent = ({ type }: WatchLine) => type !== "BOOKMARK";
const keyOf = ({ object }: WatchLine) => {
  const { namespace, name } = (object as Pick<KubeObject, "metadata">).metadata;
  return `${namespace}/${name}`;
};
const bytes = (line: WatchLine) => Buffer.from(`${JSON.stringify(line)}\n`);

async function* lines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<WatchLine> {
  let open: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    open = Buffer.concat([open, chunk]);
    for (let end = open.indexOf(10); end >= 0; end = open.indexOf(10)) {
      const line = open.subarray(0, end).toString("utf8");
      open = open.subarray(end + 1);
      if (line !== "") yield JSON.parse(line);
    }
  }
}

/** Answers lists, once each from the moment it is told, as they were before: a server that lags behind. */
export function staleLists(): { readonly seam: RequestSeam; goBack(): void; readonly served: number } {
  const before = new Map<string, unknown>();
  const stale = new Map<string, unknown>();
  let served = 0;
  return {
    async seam(request, next) {
      const answer = await next();
      if (request.verb !== "list" || answer.status !== 200) return answer;
      const key = `${request.path}?${request.query.labelSelector ?? ""}`;
      const old = stale.get(key);
      stale.delete(key);
      if (old === undefined) before.set(key, answer.body);
      else served += 1;
      return old === undefined ? answer : { ...answer, body: old };
    },
    goBack() {
      for (const [key, body] of before) stale.set(key, body);
    },
    get served() {
      return served;
    },
  };
}
