import { randomUUID } from "node:crypto";
import { shuffled } from "../../support/faults/seeded-random.ts";
import { pullRequestBody, signedHeaders } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { insisted } from "./insisted.ts";
import type { Left } from "./ledger.ts";
import type { Site } from "./site.ts";

interface Event {
  readonly number: number;
  readonly action: "opened" | "synchronize" | "closed";
  readonly commit: string;
  readonly updatedAt: string;
}

/** Events that a pull request has had before they are sent. */
const EVENT_PAUSE_MS = 1_000;
/** Share of the events that the host sends once more. */
const REPEATED = 0.2;
/** Share of the pull requests that stay open. */
const LEFT_OPEN = 0.3;
const TRY_MS = 15_000;

/** Pull requests whose events come in any order, and some of them twice. */
export class PullRequests {
  sent = 0;
  readonly #site: Site;
  readonly #random: () => number;
  #number = 0;
  #events: Event[] = [];

  constructor(site: Site, random: () => number) {
    this.#site = site;
    this.#random = random;
  }

  /** Sends the next event. */
  async next(): Promise<void> {
    if (this.#events.length === 0) this.#open();
    const event = this.#events.shift();
    if (event === undefined) return;
    await this.#site.ledger.note(`${event.action} of pull request ${event.number}`, () => this.#send(event));
  }

  /** Sends what is left of the current pull request. */
  async finish(): Promise<void> {
    while (this.#events.length > 0) await this.next();
  }

  /** Another pull request, with what has to come of it once all its events have been sent. */
  #open(): void {
    const { commits, ledger, repository } = this.#site;
    const number = ++this.#number;
    const commitOf = () => commits[Math.floor(this.#random() * commits.length)] as string;
    const isLeftOpen = this.#random() < LEFT_OPEN;
    const pushes = Math.floor(this.#random() * 3);
    const actions = ["opened", ...Array(pushes).fill("synchronize"), ...(isLeftOpen ? [] : ["closed"])] as const;
    // A whole second of its own each, because hosts tell no more.
    const startMs = Date.now() - actions.length * EVENT_PAUSE_MS;
    let commit = "";
    const events = actions.map((action: Event["action"], index): Event => {
      commit = action === "closed" ? commit : commitOf();
      return { number, action, commit, updatedAt: new Date(startMs + index * EVENT_PAUSE_MS).toISOString() };
    });
    const left: Left = { commit, isSuspended: false };
    ledger.environments.set(`${repository}-pr-${number}`, isLeftOpen ? left : undefined);
    this.#events = shuffled([...events, ...events.filter(() => this.#random() < REPEATED)], this.#random);
  }

  #send({ number, action, commit, updatedAt }: Event): Promise<void> {
    const { apiUrl, repository, webhookKey } = this.#site;
    const fullName = repository.replace("-", "/");
    const body = JSON.stringify(
      pullRequestBody({ repository: fullName, action, number, commit, updatedAt, branch: `change-${number}` }),
    );
    const headers = signedHeaders(body, { key: webhookKey, delivery: randomUUID() });
    return insisted(async () => {
      const signal = AbortSignal.timeout(TRY_MS);
      const reply = await fetch(`${apiUrl}/api/webhooks/repohost`, { method: "POST", headers, body, signal });
      // Hosts send again what is not answered with 2xx.
      if (!reply.ok) throw new TypeError(`it was answered ${reply.status}: ${await reply.text()}`);
      this.sent += 1;
    });
  }
}
