import { Agent, request } from "node:http";
import type { PlatformProcess } from "../../support/plane/platform-process.ts";

/** An event from a host. */
export interface WebhookEvent {
  readonly delivery: string;
  /** Path below `/api/webhooks/`. */
  readonly path: "repohost" | "pipelinehost/pipeline";
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Hosts keep their connections, up to this many an address. */
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Delivers one event after the other, and records the answers. */
export class Sender<Event extends WebhookEvent> {
  readonly answers = new Map<string, Answer & { readonly event: Event }>();
  readonly platform: PlatformProcess;
  readonly #eventOf: (index: number) => Event;
  #next = 0;

  constructor(platform: PlatformProcess, eventOf: (index: number) => Event) {
    this.platform = platform;
    this.#eventOf = eventOf;
  }

  async send(): Promise<Answer> {
    const event = this.#eventOf(this.#next++);
    const answer = await this.#post(event);
    this.answers.set(event.delivery, { ...answer, event });
    return answer;
  }

  /** A cut connection is an answer, too. */
  #post(event: WebhookEvent): Promise<Answer> {
    const { path, body, headers } = event;
    return new Promise((resolve) => {
      const none = () => resolve({ status: 0, retryAfter: undefined });
      const sent = request(
        `${this.platform.url}/api/webhooks/${path}`,
        { agent, method: "POST", headers, timeout: 60_000 },
        (reply) => {
          reply.resume();
          reply.once("error", none);
          reply.once("end", () => resolve({ status: reply.statusCode ?? 0, retryAfter: reply.headers["retry-after"] }));
        },
      );
      sent.once("timeout", () => sent.destroy());
      // The server may close a kept connection just as it is used again.
      // https://nodejs.org/api/http.html#requestreusedsocket
      const isClosedBefore = ({ code }: NodeJS.ErrnoException) => sent.reusedSocket && code === "ECONNRESET";
      sent.once("error", (error) => (isClosedBefore(error) ? resolve(this.#post(event)) : none()));
      sent.end(body);
    });
  }
}
