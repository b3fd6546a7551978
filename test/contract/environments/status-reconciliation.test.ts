import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { NOW, type Person } from "../../support/http/api-service.ts";
import { environmentsInState } from "./environments-in-state.ts";

const api = environmentsInState();
const { post, have } = api;

const RECONCILE = "/api/environments/{environment_id}/reconcile-status";
const reconcile = (name: string, as?: Person) => post(RECONCILE.replace("{environment_id}", name), as);

describe("a status reconciliation", () => {
  test("is done when it is answered, and the message has the result", async () => {
    const id = await have("shop", { phase: "ready" });
    for (const name of ["shop", id]) {
      const reply = await reconcile(name);
      expectPromised(reply, "post", RECONCILE);
      expect(reply.body).toEqual({
        status: "success",
        message: "Status reconciled: environment 'shop' is ready",
      });
    }
    expect((await api.service.environments.find("shop"))?.status?.lastHandledReconcileAt).toBe(NOW);
  });

  test("goes on when the operator is not done in time", async () => {
    await have("shop", {});
    api.service.environments.setOperating(false);
    const reply = await reconcile("shop");
    expectPromised(reply, "post", RECONCILE);
    expect(reply.body.message).toBe(
      "Status reconciliation of environment 'shop' goes on; it was creating when last seen",
    );
  });

  test("is fine while the environment is being deleted", async () => {
    await have("shop", { phase: "ready" });
    await api.service.http.delete("/api/environments/shop").set("authorization", await api.service.bearer("developer"));
    const reply = await reconcile("shop");
    expect(reply.body).toEqual({
      status: "success",
      message: "Status reconciled: environment 'shop' is terminating",
    });
  });

  test("is one write for a flood of them in five seconds, by whomever", async () => {
    await have("shop", {});
    const { metadata: before } = (await api.service.environments.find("shop")) as EphemeralEnvironment;
    api.service.environments.setOperating(false);
    for (let count = 0; count < 20; count++) expect((await reconcile("shop", "colleague")).status).toBe(200);
    const { metadata: after } = (await api.service.environments.find("shop")) as EphemeralEnvironment;
    expect(Number(after.resourceVersion) - Number(before.resourceVersion)).toBe(1);
    api.service.clock.advance(5_000);
    await reconcile("shop");
    const { metadata: later } = (await api.service.environments.find("shop")) as EphemeralEnvironment;
    expect(later.annotations).not.toEqual(after.annotations);
  });

  test("is refused for environments of other teams, for absent ones, and to a viewer", async () => {
    await have("secret", {}, { access: { groups: [] } });
    for (const name of ["secret", "absent"]) {
      expectProblem(await reconcile(name, "stranger"), 404, "Environment not found", "ENV_NOT_FOUND");
    }
    expectProblem(await reconcile("secret", "viewer"), 403);
    expect((await api.service.environments.find("secret"))?.metadata.annotations).toBeUndefined();
  });

  test("is 503 while the cluster can't be reached", async () => {
    await have("shop", {});
    api.service.environments.setReachable(false);
    const reply = await reconcile("shop");
    expectProblem(reply, 503, /Kubernetes API/);
    expectPromised(reply, "post", RECONCILE);
  });
});
