import { expect, test } from "@jest/globals";
import type { WebhookDeliverySpec } from "../../../crds/webhooks/webhook-delivery.ts";
import { webhookDeliveryFixture } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { webhookKeySettings } from "../../support/http/memory-webhooks.ts";
import { OWN_KEY, webhookEndpoints } from "./webhook-endpoints.ts";

const endpoints = webhookEndpoints();
const { start, pull } = endpoints;

/** The service with a limit of pending deliveries, a tenth of them for one Repository. */
const withRoomFor = (pending: number) => start({ settings: { webhooks: { ...webhookKeySettings, pending } } });
const ofAnother = () => pull({ repository: "shop/own-api" }, { key: OWN_KEY });
const at = (second: number) => new Date(Date.UTC(2026, 5, 1, 11, 0, second)).toISOString();

function storeUndecided(count: number, repository: string, spec: Partial<WebhookDeliverySpec> = {}) {
  for (let index = 0; index < count; index++) {
    const { status: _, ...undecided } = webhookDeliveryFixture(`${repository}-${index}`, {
      repositories: [repository],
      event: { type: "push", push: { branch: "main", deleted: false } },
      ...spec,
    });
    endpoints.service.webhookDeliveries.put(undecided);
  }
}

test("abuse: events of one pull request whose environment is being deleted leave room for all others", async () => {
  await withRoomFor(50);
  await pull({ updatedAt: at(0) });
  await pull({ action: "closed", updatedAt: at(1) });
  const replies = [];
  for (let second = 2; second < 60; second++) replies.push(await pull({ action: "reopened", updatedAt: at(second) }));
  expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
  expect((await ofAnother()).body).toMatchObject({ environment_created: true });
  expect((await pull({ number: 43 })).body).toMatchObject({ environment_created: true });
});

test("abuse: undecided deliveries of one Repository take a tenth of the room, and its closed pull requests are taken", async () => {
  await withRoomFor(50);
  await pull({ updatedAt: at(0) });
  await endpoints.settled();
  storeUndecided(5, "shop-api");
  const refused = await pull({ number: 43 });
  expectProblem(refused, 503);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect((await ofAnother()).body).toMatchObject({ environment_created: true });
  expect((await pull({ action: "closed", updatedAt: at(1) })).status).toBe(200);
  const [closed] = endpoints.service.environments.list().filter(({ metadata }) => metadata.name === "shop-api-pr-42");
  expect(closed?.metadata.deletionTimestamp).toBeDefined();
});

test("undecided deliveries of many Repositories fill all the room, also for a Repository without any", async () => {
  await withRoomFor(20);
  for (let index = 0; index < 10; index++) storeUndecided(2, `other-${index}`);
  expectProblem(await pull(), 503);
  expectProblem(await ofAnother(), 503);
});

test("what waits for its host takes no room", async () => {
  await withRoomFor(20);
  storeUndecided(2, "shop-api");
  expectProblem(await pull(), 503);
  for (const { metadata } of endpoints.service.webhookDeliveries.pending()) {
    const delivery = endpoints.service.webhookDeliveries.find(metadata.name);
    if (delivery === undefined) continue;
    const waiting = { phase: "pending", reason: "HostUnavailable", message: "", waitsSince: at(0) } as const;
    await endpoints.service.webhookDeliveries.finish(delivery, waiting);
  }
  expect((await pull()).body).toMatchObject({ environment_created: true });
});
