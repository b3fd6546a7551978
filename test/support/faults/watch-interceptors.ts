import { apiVersionOf, type KubeObject, type ResourceType } from "../../../operator/kit/client/objects.ts";
import type { KubeRequest, RequestInterceptor } from "../../../operator/kit/client/request.ts";

interface WatchLine {
  readonly type: string;
  readonly object: object;
}

/**
 * Disturbances of watch events: `cut` breaks the connection at the next event, `expire` ends it with 410 Gone, `hold` delays
 * all until its end, `repeat` delivers each twice, `reorder` swaps events of different objects, whose order is not
 * guaranteed.
 */
export type WatchTrouble = "none" | "cut" | "expire" | "hold" | "repeat" | "reorder";

/** Disturbs every watch of an operator. */
export interface TroubledWatches {
  readonly interceptor: RequestInterceptor;
  /** Applies to running watches, too. */
  set(trouble: WatchTrouble): void;
  /** The number of disturbed events. */
  readonly met: number;
}

export function troubledWatches(): TroubledWatches {
  const state: State = { trouble: "none", met: 0, changed: Promise.withResolvers() };
  return {
    async interceptor(request, next) {
      const answer = await next();
      if (answer.stream === undefined) return answer;
      return { ...answer, stream: troubled(answer.stream, state, isStreamedList(request)) };
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

async function* troubled(stream: AsyncIterable<Uint8Array>, state: State, isList: boolean): AsyncGenerator<Uint8Array> {
  // The current list can't have expired.
  const trouble = () => (isList && state.trouble === "expire" ? "none" : state.trouble);
  for await (const line of overtaking(lines(stream), state)) {
    while (state.trouble === "hold") await state.changed.promise;
    const now = trouble();
    state.met += isEvent(line) && now !== "none" ? 1 : 0;
    yield* delivered(line, now).map(bytes);
    if (now === "expire") return;
  }
}

function delivered(line: WatchLine, trouble: WatchTrouble): WatchLine[] {
  if (trouble === "cut") throw new Error("the connection was reset");
  if (trouble === "expire") return [EXPIRED];
  return trouble === "repeat" ? [line, line] : [line];
}

/**
 * Delays during `reorder`: every other event waits for the next one, and follows it unless both are of one object. None is
 * lost: a waiting event is delivered at the end of the disturbance, or of the stream.
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

/** The lines, and `undefined` at each change of the disturbance. */
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
    // An awaited line ends with its connection.
    if (coming === undefined) await source.return(undefined);
    else coming.catch(() => undefined);
  }
}

function inOrder(late: WatchLine | undefined, line: WatchLine | undefined): WatchLine[] {
  if (late === undefined || line === undefined) return [late, line].filter((one) => one !== undefined);
  if (isEndOfList(line)) return [late, line];
  return keyOf(late) === keyOf(line) ? [late, line] : [line, late];
}

const EXPIRED = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } } as const;
const isStreamedList = ({ query }: KubeRequest) => query.sendInitialEvents === "true";
/** The initial events of the watch precede it. */
const isEndOfList = ({ type, object }: WatchLine) =>
  type === "BOOKMARK" && (object as KubeObject).metadata.annotations?.["k8s.io/initial-events-end"] === "true";
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

/** A list as its reader sees it, paged or streamed. */
export interface SeenList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

/**
 * Replaces every list, including streamed ones, by the result of `changed`.
 *
 * @param changed gets the collection; each page counts as a list
 */
export function changedLists(changed: (collection: string, list: SeenList) => SeenList): RequestInterceptor {
  return async (request, next) => {
    const answer = await next();
    const change = (list: SeenList) => changed(`${request.path}?${request.query.labelSelector ?? ""}`, list);
    if (isStreamedList(request) && answer.stream !== undefined) {
      return { ...answer, stream: changedBeginning(answer.stream, change) };
    }
    if (request.verb !== "list" || answer.status !== 200) return answer;
    const body = answer.body as { items: SeenList["items"]; metadata: { resourceVersion: string } };
    // Items of a page lack their kind.
    const type = request.type as ResourceType;
    const listed = body.items.map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
    const { items, resourceVersion } = change({ items: listed, resourceVersion: body.metadata.resourceVersion });
    return { ...answer, body: { ...body, items, metadata: { ...body.metadata, resourceVersion } } };
  };
}

/** Buffers a watch's initial objects until all have arrived. */
async function* changedBeginning(
  stream: AsyncIterable<Uint8Array>,
  change: (list: SeenList) => SeenList,
): AsyncGenerator<Uint8Array> {
  const items: KubeObject[] = [];
  let isOver = false;
  for await (const line of lines(stream)) {
    const object = line.object as KubeObject;
    if (isOver || line.type === "ERROR") yield bytes(line);
    else if (!isEndOfList(line)) items.push(object);
    else {
      isOver = true;
      const list = change({ items, resourceVersion: object.metadata.resourceVersion });
      for (const item of list.items) yield bytes({ type: "ADDED", object: item });
      const metadata = { ...object.metadata, resourceVersion: list.resourceVersion };
      yield bytes({ ...line, object: { ...object, metadata } });
    }
  }
}

/** Answers each list once with its former content after `goBack`, as a lagging server. */
export function staleLists(): { readonly interceptor: RequestInterceptor; goBack(): void; readonly served: number } {
  const before = new Map<string, SeenList>();
  const stale = new Map<string, SeenList>();
  let served = 0;
  return {
    interceptor: changedLists((collection, list) => {
      const old = stale.get(collection);
      stale.delete(collection);
      if (old === undefined) before.set(collection, list);
      else served += 1;
      return old ?? list;
    }),
    goBack() {
      for (const [collection, list] of before) stale.set(collection, list);
    },
    get served() {
      return served;
    },
  };
}
