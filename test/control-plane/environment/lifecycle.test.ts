import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { API_VERSION } from "../../../crds/group.ts";
import { run } from "../../../deploy/build/run.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { KubeError } from "../../../operator/kit/client/errors.ts";
import { type KubeObject, resourceType } from "../../../operator/kit/client/objects.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-interceptors.ts";
import { completeInventory } from "../../support/fixtures/environment/environment-inventory.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const owner = { subject: "https://issuer.test#1", email: "dev@example.test", name: "Dev" };
const configMap = resourceType({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });

function kubectl(args: readonly string[]): Promise<string> {
  return run(world.plane.kubectl, ["--kubeconfig", world.plane.kubeconfigPath, ...args]);
}

/** Excludes the repetition of a write that a new right refused at first. */
const isSure = (write: string) => write.endsWith(" #1") || write.includes("/status ");

describe("an environment's life", () => {
  test("it becomes ready with all that belongs to it, and is gone without a trace when deleted", async () => {
    const recording = recordWrites(concernedAmong(["life-cycle"]));
    const { stop } = await world.startOperator({ onRequest: recording.interceptor });
    const made = await world.create("life-cycle");
    const ready = await world.expectPhase("life-cycle", "ready");
    expect([...(await world.inventory(made)).keys()].sort()).toEqual(completeInventory(made));
    expect(ready.status?.urls).toEqual({ backend: "https://life-cycle--api.env.localhost:18443" });

    const creation = recording.writes("life-cycle").slice();

    await world.delete(made);
    await world.expectGone(made);
    await stop();
    // The finalizer comes before any object: a deletion at any later moment finds it.
    expect(creation[0]).toBe("patch EphemeralEnvironment NAME #1");
    // The limits of one environment's cost for the API server.
    expect(creation.filter(isSure).length).toBeLessThanOrEqual(16);
    expect(recording.writes("life-cycle").length - creation.length).toBeLessThanOrEqual(9);
  }, 90_000);

  test("its status is one thing to the API server, which still holds its lists to their keys", async () => {
    const { stop } = await world.startOperator();
    const made = await world.create("one-writer");
    await world.expectPhase("one-writer", "ready");
    const { metadata, status } = (await world.find("one-writer")) as EphemeralEnvironment;
    // The fields' managers are not recorded.
    const ofStatus = (metadata as KubeObject["metadata"]).managedFields?.filter((entry) => "subresource" in entry);
    expect(ofStatus).toEqual([expect.objectContaining({ fieldsV1: { "f:status": {} } })]);
    const twice = { status: { conditions: [...(status?.conditions ?? []), ...(status?.conditions ?? [])] } };
    const options = { as: "merge", subresource: "status" } as const;
    const refusal = await world.admin
      .patch(environmentType, { name: "one-writer" }, twice, options)
      .catch((error: KubeError) => error.detail());
    expect(refusal).toMatch(/Duplicate value/);
    await world.delete(made);
    await world.expectGone(made);
    await stop();
  }, 90_000);

  test("its deletion says what it waits for, and goes on when that goes", async () => {
    const { stop } = await world.startOperator();
    const made = await world.create("held-up");
    await world.expectPhase("held-up", "ready");
    const held = { name: "held", namespace: "env-held-up", finalizers: ["example.test/hold"] };
    await world.admin.create(configMap, { metadata: held });
    await world.delete(made);
    const namesIt = ({ status }: EphemeralEnvironment) =>
      status?.teardown?.steps.some(({ name, state }) => name === "namespace" && state === "waiting") ?? false;
    const waiting = await world.expectState("held-up", "naming what it waits for", namesIt);
    expect(waiting.status).toMatchObject({
      phase: "terminating",
      teardown: {
        steps: [
          { name: "volumes", state: "gone" },
          { name: "application", state: "gone" },
          { name: "project", state: "gone" },
          { name: "secrets", state: "gone" },
          { name: "namespace", state: "waiting", message: "Namespace 'env-held-up' is being deleted" },
          { name: "feedback", state: "pending" },
          { name: "record", state: "pending" },
        ],
      },
    });
    // A successor must wait until the former one is gone.
    await expect(world.create("held-up")).rejects.toMatchObject({ status: 409, reason: "AlreadyExists" });

    await world.admin.patch(configMap, held, { metadata: { finalizers: [] } }, { as: "merge" });
    await world.expectGone(made);
    const successor = await world.create("held-up");
    expect((await world.expectPhase("held-up", "ready")).metadata.uid).toBe(successor.metadata.uid);
    await stop();
  }, 120_000);

  test("it is made, awaited and shown with kubectl alone", async () => {
    const { stop } = await world.startOperator();
    const { metadata, spec } = { metadata: { name: "by-kubectl" }, spec: { ...backendOnly, owner } };
    const manifest = { apiVersion: API_VERSION, kind: "EphemeralEnvironment", metadata, spec };
    const folder = await mkdtemp(join(tmpdir(), "manifest-"));
    await writeFile(join(folder, "environment.json"), JSON.stringify(manifest));
    await kubectl(["apply", "-f", folder]);
    await rm(folder, { recursive: true });
    await kubectl(["wait", "--for=condition=Ready", "eenv/by-kubectl", "--timeout=30s"]);
    const [head = "", row = ""] = (await kubectl(["get", "eenv", "by-kubectl"])).split("\n");
    expect(head.split(/\s+/)).toEqual(["NAME", "PHASE", "URL", "OWNER", "EXPIRES", "AGE"]);
    const url = "https://by-kubectl--api.env.localhost:18443";
    expect(row.split(/\s+/).slice(0, 4)).toEqual(["by-kubectl", "ready", url, owner.email]);
    await stop();
  }, 60_000);
});
