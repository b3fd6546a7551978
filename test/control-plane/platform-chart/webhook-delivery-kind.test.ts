import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { webhookDeliveryFixture } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";

const plane = await controlPlane();

const objectWith = (spec: object = {}) => {
  const { status: _, metadata, ...delivery } = webhookDeliveryFixture(randomBytes(20).toString("hex"));
  return { ...delivery, metadata: { name: metadata.name }, spec: { ...delivery.spec, ...spec } };
};
const status = { phase: "acted", reason: "Qualifies", message: "environment 'x' is created" };

describe("the kind WebhookDelivery", () => {
  let admin: ApiCalls;
  let platform: ApiCalls;
  let made: string | undefined;

  beforeAll(() => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
  });
  afterEach(async () => {
    if (made !== undefined) await admin.delete(made);
    made = undefined;
  });

  const make = async () => {
    const object = objectWith();
    await given(platform, paths.webhookDeliveries, object);
    made = `${paths.webhookDeliveries}/${object.metadata.name}`;
    return made;
  };

  test("is never changed; its outcome may be", async () => {
    const path = await make();
    const forged = await platform.patch(path, { spec: { verified: false } });
    expect(forged.status).toBeGreaterThanOrEqual(400);
    expect(await platform.patch(`${path}/status`, { status })).toMatchObject({ status: 200 });
  });

  test.each([
    ["an unknown endpoint", { source: "other" }],
    ["a digest that is none", { digest: "x".repeat(64) }],
    ["more than twenty labels", { event: { type: "pull_request", pullRequest: { labels: Array(21).fill("x") } } }],
  ])("refuses %s", async (_what, spec) => {
    expect(await platform.create(`${paths.webhookDeliveries}?dryRun=All`, objectWith(spec))).toMatchObject({
      status: 422,
    });
  });

  test("is written by no administrator of the cluster, who may read and delete it", async () => {
    const path = await make();
    const words = "Deliveries of webhooks are written by the platform alone";
    for (const reply of [
      await admin.create(paths.webhookDeliveries, objectWith()),
      await admin.patch(`${path}/status`, { status: { ...status, phase: "pending" } }),
    ]) {
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    }
    expect(await admin.get(path)).toMatchObject({ status: 200 });
    expect(await admin.delete(path)).toMatchObject({ status: 200 });
    made = undefined;
  });
});
