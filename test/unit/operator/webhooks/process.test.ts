import { expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { decide } from "../../../../operator/webhooks/decide.ts";
import { processDelivery } from "../../../../operator/webhooks/process.ts";
import { memoryAuditTrail } from "../../../support/doubles/memory/audit-trail.ts";
import { memoryEnvironments } from "../../../support/doubles/memory/environments.ts";
import { memoryDecidedWrites } from "../../../support/doubles/memory/webhooks/decided-writes.ts";
import { memoryPullRequestHost } from "../../../support/doubles/memory/webhooks/pull-request-host.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { repositoryFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";
import { pullRequestState, shopApi, WebhookWorld } from "../../../support/worlds/webhook-world.ts";

const token = { name: "host-token", key: "latest" };
const { hosts } = settingsFrom({
  ...testSettings,
  hosts: [{ id: "git", kind: "github", apiUrl: "https://api.github.com", token }],
});

test("a status that one Repository asks for keeps no other from its environment", async () => {
  const fullName = { host: "git", fullName: "shop/shop" };
  const world = new WebhookWorld({
    settings: { hosts },
    repositories: [
      repositoryFixture("shop-docs", {
        ...fullName,
        pullRequest: { enabled: true, requiredLabels: ["docs"] },
        feedback: { statusWithoutEnvironment: "success" },
      }),
      shopApi(fullName),
    ],
  });
  const clock = new TestClock("2026-06-01T12:00:00Z");
  const environments = memoryEnvironments(clock);
  const { host, reports } = memoryPullRequestHost();
  const common = {
    decide,
    decisionContext: world.context,
    newId: () => "id",
    audit: memoryAuditTrail(),
    writes: memoryDecidedWrites(environments),
  };
  const event = { type: "pull_request", pullRequest: pullRequestState() } as const;
  const delivery = world.claim(event, "one", "shop-docs", "shop-api");

  const status = await processDelivery(delivery, common, { atOnce: "one" });
  expect(status).toMatchObject({ phase: "pending", environments: [{ name: "shop-api-pr-7", action: "created" }] });
  expect(reports).toEqual([]);
  for (const one of environments.list()) world.put(one);
  const all = await processDelivery({ ...delivery, status }, { ...common, pullRequestHost: host }, { atOnce: "all" });
  expect(all).toMatchObject({ phase: "acted", environments: [{ name: "shop-api-pr-7", action: "created" }] });
  expect(reports.map(({ context }) => context)).toEqual(["ephemeral-environment/shop-docs"]);
});
