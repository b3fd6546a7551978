import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { keepFollowing, StreamState } from "../../../../../clients/console/platform/following.ts";
import { until } from "../../../../support/fixtures/until.ts";

const ROUTE = "GET /api/v2/environments/{environment_id}/logs/{component}/stream";
const INPUT = { path: { environment_id: "shop", component: "backend" } } as const;

class SeenPage extends EventTarget {
  visibilityState = "visible";

  show(visibilityState: "visible" | "hidden"): void {
    this.visibilityState = visibilityState;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

class Opened {
  readonly request: Request;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(request: Request) {
    this.request = request;
  }

  get response(): Response {
    return new Response(
      new ReadableStream({
        start: (controller) => {
          this.#controller = controller;
          this.request.signal.addEventListener("abort", () => controller.error(this.request.signal.reason));
        },
      }),
    );
  }

  send(id: string, message: string): void {
    const event = `id: ${id}\ndata: ${JSON.stringify({ timestamp: "", level: "INFO", message })}\n\n`;
    this.#controller?.enqueue(new TextEncoder().encode(event));
  }
}

describe("a stream that a page follows", () => {
  const names = ["document", "location", "fetch"] as const;
  const former = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  const replace = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  let page: SeenPage;
  let opened: Opened[];
  let states: StreamState[];
  let messages: string[];
  let refusal: number | undefined;
  let stop: () => void;
  let follow: typeof keepFollowing;

  beforeEach(async () => {
    page = new SeenPage();
    [opened, states, messages, refusal] = [[], [], [], undefined];
    replace("document", page);
    replace("location", new URL("https://eenv.example.test/console/"));
    replace("fetch", async (request: Request) => {
      opened.push(new Opened(request));
      return refusal === undefined
        ? opened.at(-1)?.response
        : Response.json({ detail: "no", status_code: refusal }, { status: refusal });
    });
    ({ keepFollowing: follow } = await import("../../../../../clients/console/platform/following.ts"));
  });
  afterEach(() => {
    stop();
    for (const [name, descriptor] of former) {
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
  });

  const begin = () => {
    stop = follow(ROUTE, INPUT, {
      event: ({ message }) => messages.push(message),
      state: (state) => states.push(state),
    });
  };
  const last = () => opened.at(-1) as Opened;

  test("is let go while the page is hidden, and goes on after the last event", async () => {
    begin();
    await until(() => states.includes("live"), { what: "the stream" });
    last().send("7", "one");
    await until(() => messages.length === 1, { what: "the first line" });
    page.show("hidden");
    expect(opened[0]?.request.signal.aborted).toBe(true);
    page.show("visible");
    await until(() => opened.length === 2, { what: "another request" });
    expect(last().request.headers.get("last-event-id")).toBe("7");
    await until(() => states.filter((state) => state === "live").length === 2, { what: "the stream again" });
    last().send("8", "two");
    await until(() => messages.length === 2, { what: "the second line" });
    expect(messages).toEqual(["one", "two"]);
    expect(states).toEqual(["connecting", "live", "live"]);
  });

  test("is one request, however often the page is shown", async () => {
    begin();
    await until(() => states.includes("live"), { what: "the stream" });
    for (let times = 0; times < 3; times += 1) page.show("visible");
    expect(opened).toHaveLength(1);
  });

  test("of what is gone is over, and is not asked for again when the page is seen", async () => {
    refusal = 404;
    begin();
    await until(() => states.includes("over"), { what: "its end" });
    page.show("hidden");
    page.show("visible");
    expect(opened).toHaveLength(1);
  });

  test("that is refused says why, and is not asked for again", async () => {
    refusal = 403;
    begin();
    await until(() => states.length === 2, { what: "the refusal" });
    expect(states[1]).toMatchObject({ error: { status: 403, message: "no" } });
    expect(opened).toHaveLength(1);
  });
});
