import { createHmac } from "node:crypto";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { pullRequestBody, signedHeaders } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import type { World } from "../../support/worlds/environment-world.ts";
import type { WebhookEvent } from "./sender.ts";

/** The number of delivering projects, and of each one's open pull requests. */
export const PROJECTS = 10;
export const PULL_REQUESTS = 20;

/** The key of webhooks. */
export const KEY = "the-key-of-webhooks-in-the-benchmark";
/** Settings for the key. All deliveries are kept: an expired one would count as lost. */
export const webhookSettings = {
  secrets: [{ name: "webhook-key", key: "latest" }],
  pipelineTokens: [{ name: "webhook-key", key: "latest" }],
  retention: { verified: 1_000_000 },
};

/** Creates Repositories with environments for pull requests, and the key of their webhooks. */
export async function registerProjects(world: World): Promise<void> {
  await world.admin.create(secretKind, {
    metadata: { name: "webhook-key", namespace: "ephemeral-secrets", labels: { [SHARED_SECRET_LABEL]: "true" } },
    data: { "1": Buffer.from(KEY).toString("base64") },
  });
  for (let project = 0; project < PROJECTS; project += 1) {
    await world.register(`project-${project}`, { fullName: `shop/project-${project}`, pullRequest: { enabled: true } });
  }
}

export interface PullRequestEvent extends WebhookEvent {
  readonly environment: string;
  readonly commit: string;
}

const STARTED_MS = Date.parse("2026-01-01T00:00:00Z");

/** The event of that number: the projects and their pull requests in turn, each with its own commit. */
export function eventOf(index: number): PullRequestEvent {
  const project = index % PROJECTS;
  const number = 1 + (Math.floor(index / PROJECTS) % PULL_REQUESTS);
  const commit = createHmac("sha1", "commit").update(String(index)).digest("hex");
  const delivery = `bench-${index}`;
  const body = JSON.stringify(
    pullRequestBody({
      repository: `shop/project-${project}`,
      action: index < PROJECTS * PULL_REQUESTS ? "opened" : "synchronize",
      updatedAt: new Date(STARTED_MS + index * 1e3).toISOString(),
      number,
      commit,
    }),
  );
  const environment = `project-${project}-pr-${number}`;
  return {
    delivery,
    environment,
    commit,
    path: "repohost",
    body,
    headers: signedHeaders(body, { delivery, key: KEY }),
  };
}
