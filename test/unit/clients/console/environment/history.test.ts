import { expect, test } from "@jest/globals";
import { historyOf } from "../../../../../clients/console/environment/history.ts";
import type { EnvironmentReport, WebhookDelivery } from "../../../../../clients/sdk/index.ts";

const environment = {
  name: "shop",
  created_at: "2026-06-01T12:00:00Z",
  creator: { name: "Dev", email: "dev@example.test" },
  conditions: [
    {
      type: "UrlsReady",
      status: "False",
      reason: "Waiting",
      message: "Nothing answers",
      last_transition_time: "2026-06-01T12:05:00Z",
    },
    {
      type: "NamespaceReady",
      status: "True",
      reason: "Done",
      message: "there",
      last_transition_time: "2026-06-01T12:00:02Z",
    },
  ],
} as unknown as EnvironmentReport;

const delivery = (id: string, at: string, names: readonly string[]) =>
  ({
    id,
    received_at: at,
    event_name: "push",
    message: "the branch moved",
    environments: names.map((name) => ({ id: `id-${name}`, name, action: "updated" })),
  }) as unknown as WebhookDelivery;

test("the past of an environment is what is known of it, the newest first; webhooks only where they touched it", () => {
  const deliveries = [
    delivery("a", "2026-06-01T12:03:00Z", ["shop", "other"]),
    delivery("b", "2026-06-01T12:04:00Z", ["other"]),
  ];
  expect(historyOf(environment, deliveries).map(({ what, note, delivery: id }) => [what, note, id])).toEqual([
    ["Addresses: not done", "Nothing answers", undefined],
    ["push of its repository: updated", "the branch moved", "a"],
    ["Namespace: done", "", undefined],
    ["Created", "by Dev", undefined],
  ]);
});
