import { afterEach, describe, expect, test } from "@jest/globals";
import type { NotificationSpec } from "../../../crds/notifications/notification.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";

const plane = await controlPlane();
const admin = administrator(plane);
const platform = callsAs(plane, { token: plane.platform.token });

const spec: NotificationSpec = {
  channel: "email",
  to: "dev@example.test",
  event: "expiry",
  template: "expiry",
  facts: { environment: "shop" },
  at: "2026-11-26T12:00:00Z",
};
const objectNamed = (name: string) => ({
  apiVersion: "ephemeral-environments.dev/v1",
  kind: "Notification",
  metadata: { name },
  spec,
});
const path = `${paths.notifications}/sent`;

describe("the kind Notification", () => {
  afterEach(() => admin.delete(path));

  test("is written by no administrator of the cluster, who may read and delete it: it could mail a link that extends an environment", async () => {
    await given(platform, paths.notifications, objectNamed("sent"));
    const words = "Notifications are written by the platform alone";
    for (const reply of [
      await admin.create(paths.notifications, objectNamed("forged")),
      await admin.patch(`${path}/status`, { status: { phase: "pending", attempts: 0 } }),
    ]) {
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    }
    expect(await admin.get(path)).toMatchObject({ status: 200 });
    expect(await admin.delete(path)).toMatchObject({ status: 200 });
  });
});
