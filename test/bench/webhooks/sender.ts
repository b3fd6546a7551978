import { Agent, request } from "node:http";
import type { PlatformProcess } from "../../support/plane/platform-process.ts";
import { eventOf, type PullRequestEvent } from "./projects.ts";

/** How a delivery was answered; `status` 0: not at all. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Hosts keep their connections. */
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Delivers one event after the other, and remembers how each was answered. */
export class Sender {
  readonly answers = new Map<string, Answer & { readonly event: PullRequestEvent }>();
  readonly platform: PlatformProcess;
  #next = 0;

  constructor(platform: PlatformProcess) {
    this.platform = platform;
  }

  async send(): Promise<Answer> {
    const event = eventOf(this.#next++);
    const answer = await send(this.platform.url, event);
    this.answers.set(event.delivery, { ...answer, event });
    return answer;
  }
}

/** Delivers an event; a connection that is cut is an answer, too. */
function send(url: string, { body, headers }: PullRequestEvent): Promise<Answer> {
  return new Promise((resolve) => {
    const none = () => resolve({ status: 0, retryAfter: undefined });
    const sent = request(
      `${url}/api/webhooks/repohost`,
      { agent, method: "POST", headers, timeout: 60_000 },
      (reply) => {
        reply.resume();
        reply.once("error", none);
        reply.once("end", () => resolve({ status: reply.statusCode ?? 0, retryAfter: reply.headers["retry-after"] }));
      },
    );
    sent.once("timeout", () => sent.destroy());
    sent.once("error", none);
    sent.end(body);
  });
}
