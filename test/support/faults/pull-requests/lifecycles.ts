import { createHmac } from "node:crypto";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { environmentType, webhookDeliveryType } from "../../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../operator/kit/client/kube-client.ts";
import { until } from "../../fixtures/until.ts";
import { inChunks } from "../../fixtures/webhooks/received-webhook.ts";
import { pullRequestBody } from "../../fixtures/webhooks/webhook-fixture.ts";
import { COMMIT } from "../../worlds/environment-world.ts";
import { deeds, isReady, type Part, READY } from "../fault-lifecycles.ts";
import { type FaultWorld, faultSpec } from "../fault-world.ts";
import { addressOf, fullNameOf, PULL_REQUEST, repositoryOf, WEBHOOK_KEY } from "./audience.ts";
import { type Outbox, reportsOf } from "./reports.ts";

/** The heads of the pull request: at its first event, and since the push. */
const HEADS = { first: "a".repeat(40), second: COMMIT } as const;

interface Sent {
  readonly action: "opened" | "synchronize" | "closed";
  readonly commit: string;
}
const OPENED: Sent = { action: "opened", commit: HEADS.first };
const PUSHED: Sent = { action: "synchronize", commit: HEADS.second };
const CLOSED: Sent = { action: "closed", commit: HEADS.first };

/** The warning of an environment with this TTL is due from its creation on. */
export const WARNING_HOURS = 24;

/** The life of an environment under a pull request's webhooks, and a warning to the owner of another one. */
export function pullRequestParts(world: FaultWorld, outbox: Outbox): Part[] {
  const { observer, audience } = world;
  const { patched } = deeds(world);
  const reports = reportsOf(world, outbox);
  const found = (name: string) => observer.environment(name) as EphemeralEnvironment;
  const opened = async (name: string) => {
    await audience.register(name);
    await send(world, name, OPENED);
    const isOpened = () =>
      isReady(observer.environment(name)) && reports.ofLiving(name, ["created", "ready"]).length === 0;
    await until(isOpened, { what: `'${name}' being ready, and reported`, ...READY });
  };
  const hasHead = (commit: string) => (environment: EphemeralEnvironment) => environment.spec.backend.commit === commit;
  const slack = 12;
  return [
    {
      name: "pull request is opened",
      slack,
      isEnd: hasHead(HEADS.first),
      given: audience.register,
      act: (name) => send(world, name, OPENED),
      reported: (name) => reports.ofLiving(name, ["created", "ready"]),
    },
    {
      name: "pull request is pushed to",
      slack,
      isEnd: hasHead(HEADS.second),
      given: opened,
      act: (name) => send(world, name, PUSHED),
      reported: (name) => reports.ofLiving(name, ["created", "ready", "updated"]),
    },
    {
      name: "pull request is closed",
      slack,
      leaves: true,
      given: opened,
      async act(name) {
        observer.mayGo(found(name));
        await send(world, name, CLOSED);
      },
      reported: (name) => reports.ofGone(name, ["created", "ready", "deleted"]),
    },
    {
      name: "owner is warned of the expiry",
      slack,
      async given(name) {
        const owner = { subject: `https://issuer.test#${name}`, email: addressOf(name), name };
        await world.create(name, {
          ...faultSpec(name),
          ttlHours: WARNING_HOURS,
          owner,
          protected: true,
        });
        const isKnown = () => found(name)?.status?.announced?.expiry?.hours === WARNING_HOURS;
        await until(() => isReady(found(name)) && isKnown(), { what: `'${name}' being ready, and reported`, ...READY });
        const change = { status: { announced: { expiry: { hours: null } } } };
        await asOperator(world, (client) =>
          client.patch(environmentType, { name }, change, { as: "merge", subresource: "status" }),
        );
      },
      act: patched({ protected: false }),
      isEnd: ({ spec }) => spec.protected !== true,
      reported: (name) => reports.byMail(name),
    },
  ];
}

/** Only the operator may write a status. */
async function asOperator({ world }: FaultWorld, write: (client: KubeClient) => Promise<unknown>): Promise<void> {
  const client = createKubeClient({ kubeConfig: world.identity.kubeConfig });
  await write(client).finally(() => client.close());
}

/**
 * Sends a webhook as its host would: repeated until it is acknowledged, and never after it is stored, so that only the
 * platform can finish it.
 */
async function send({ world, clock, asClient }: FaultWorld, environment: string, sent: Sent): Promise<void> {
  const fullName = fullNameOf(environment);
  const { action, commit } = sent;
  const head = { ref: repositoryOf(environment), sha: commit, repo: { full_name: fullName } };
  const updatedAt = clock.now().toISOString();
  const facts = { repository: fullName, number: PULL_REQUEST, action, commit, updatedAt, more: { head } };
  const bytes = Buffer.from(JSON.stringify(pullRequestBody(facts)));
  const id = `${environment}-${action}`;
  const headers = {
    "x-github-event": "pull_request",
    "x-github-delivery": id,
    "x-hub-signature-256": `sha256=${createHmac("sha256", WEBHOOK_KEY).update(bytes).digest("hex")}`,
  };
  const isHeard = async () => {
    const { items } = await world.admin.list(webhookDeliveryType, { namespace: "ephemeral-system" });
    return items.some(({ spec }) => spec.deliveryId === id);
  };
  await asClient(environment, async ({ webhookInbox }) => {
    if (await isHeard()) return;
    const webhook = await webhookInbox.verify({ source: "repohost", headers, chunks: inChunks(bytes) });
    await webhookInbox.accept(webhook);
  });
}
