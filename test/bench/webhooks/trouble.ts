import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { environmentType, webhookDeliveryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { pipelineBody, pullRequestBody, signedHeaders } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import type { PlatformProcess } from "../../support/plane/platform-process.ts";
import type { World } from "../../support/worlds/environment-world.ts";
import { atRate, type Rate } from "../at-rate.ts";
import { KEY } from "./projects.ts";
import { Sender, type WebhookEvent } from "./sender.ts";

/** Backlog of each before the measurement: a thousand. */
const BACKLOG: Rate = { perSecond: 50, seconds: 20 };
const namespace = "ephemeral-system";
/** Later rate of each kind. */
const PER_SECOND = 5;

/**
 * Two undecidable Repositories: one floods with events of one pull request whose environment's name is terminating; the
 * other's git host accepts connections and never answers, with successful pipelines of as many branches.
 */
export class Trouble {
  readonly #senders: readonly Sender<WebhookEvent>[];
  readonly #end: () => Promise<void>;

  readonly #forget: () => Promise<void>;

  private constructor(platform: PlatformProcess, forget: () => Promise<void>, end: () => Promise<void>) {
    this.#forget = forget;
    this.#senders = [new Sender(platform, flood), new Sender(platform, pipelineOfSilentHost)];
    this.#end = end;
  }

  static async begin({ register, admin }: World, platform: PlatformProcess): Promise<Trouble> {
    const host = createServer();
    const connections = new Set<Socket>();
    host.on("connection", (connection) => connections.add(connection.on("error", () => connection.destroy())));
    await once(host.listen(0, "127.0.0.1"), "listening");
    const { port } = host.address() as AddressInfo;
    await register("silent", { fullName: "shop/silent", cloneUrl: `http://127.0.0.1:${port}/silent.git` });
    await register("flood", { fullName: "shop/flood", pullRequest: { enabled: true } });
    const name = "flood-pr-1";
    const spec = { ttlHours: 1, backend: { repository: "flood", branch: "main" } };
    await admin.create(environmentType, { metadata: { name, finalizers: ["example.test/hold"] }, spec });
    await admin.delete(environmentType, { name });
    const forget = async () => {
      await admin.patch(environmentType, { name }, { metadata: { finalizers: null } }, { as: "merge" });
      const { items } = await admin.list(webhookDeliveryType, { namespace });
      const theirs = items.filter(({ spec }) => /^(flood|silent)-/.test(spec.deliveryId ?? ""));
      for (const { metadata } of theirs)
        await admin.delete(webhookDeliveryType, { name: metadata.name ?? "", namespace });
    };
    return new Trouble(platform, forget, async () => {
      for (const connection of connections) connection.destroy();
      await new Promise((resolve) => host.close(resolve));
    });
  }

  /** Sends a thousand of each; answers their statuses, such as `200: 99, 503: 901`, by Repository. */
  async backlog(): Promise<readonly string[]> {
    return Promise.all(
      this.#senders.map(async (sender) => {
        const counts = new Map<number, number>();
        await atRate(BACKLOG, async () => {
          const { status } = await sender.send();
          counts.set(status, 1 + (counts.get(status) ?? 0));
        });
        return [...counts].map(([status, count]) => `${status}: ${count}`).join(", ");
      }),
    );
  }

  async goOn({ seconds }: Pick<Rate, "seconds">): Promise<void> {
    await Promise.all(this.#senders.map((sender) => atRate({ perSecond: PER_SECOND, seconds }, () => sender.send())));
  }

  /** Removes what waits: from then on nothing is undecided. */
  forget(): Promise<void> {
    return this.#forget();
  }

  stop(): Promise<void> {
    return this.#end();
  }
}

const sha = (text: string) => createHash("sha1").update(text).digest("hex");

function flood(index: number): WebhookEvent {
  const delivery = `flood-${index}`;
  const updatedAt = new Date(Date.parse("2026-01-01T00:00:00Z") + index * 1000).toISOString();
  const pull = { repository: "shop/flood", action: "synchronize", number: 1, commit: sha(delivery), updatedAt };
  const body = JSON.stringify(pullRequestBody(pull));
  return { delivery, path: "repohost", body, headers: signedHeaders(body, { delivery, key: KEY }) };
}

function pipelineOfSilentHost(index: number): WebhookEvent {
  const delivery = `silent-${index}`;
  const { object_attributes: attributes, commit, ...others } = pipelineBody({ project: "shop/silent" });
  const body = JSON.stringify({
    ...others,
    object_attributes: { ...attributes, id: 1 + index, ref: `branch-${index}` },
    commit: { ...commit, id: sha(delivery) },
  });
  const headers = { "content-type": "application/json", "x-pipeline-token": KEY };
  return { delivery, path: "pipelinehost/pipeline", body, headers };
}
