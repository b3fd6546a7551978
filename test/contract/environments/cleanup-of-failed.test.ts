import { describe, expect, test } from "@jest/globals";
import type { Condition } from "../../../crds/conditions.ts";
import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentConflict } from "../../../crds/errors.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { NOW, type Person } from "../../support/http/api-service.ts";
import { environmentsInState } from "./environments-in-state.ts";

const api = environmentsInState();
const { post, have } = api;

const CLEANUP = "/api/environments/cleanup-failed";
const cleanUp = (body?: object, as?: Person) => post(CLEANUP, as, body);

const condition = (type: string, status: Condition["status"], lastTransitionTime = NOW): Condition => {
  return { type, status, reason: "Tested", message: "", lastTransitionTime };
};
const hoursAgo = (hours: number) => new Date(Date.parse(NOW) - hours * 3_600_000).toISOString();
const failed = (status: EnvironmentStatus = {}): EnvironmentStatus => ({
  phase: "failed",
  conditions: [condition("Ready", "False"), ...(status.conditions ?? [])],
});

/** A failed environment, a request, and the reason why it stays; without a reason it is deleted. */
interface Judged {
  readonly which: string;
  readonly status?: EnvironmentStatus;
  readonly spec?: Partial<EnvironmentSpec>;
  readonly body?: object;
  readonly reason?: string;
}
const isLeaving = async (name: string) =>
  (await api.service.environments.find(name))?.metadata.deletionTimestamp !== undefined;

describe("a cleanup of failed environments", () => {
  test("deletes them, and nothing else", async () => {
    const id = await have("broken", failed());
    await have("fine", { phase: "ready" });
    await have("on-its-way", {});
    const reply = await cleanUp();
    expectPromised(reply, "post", CLEANUP);
    const message = "Deletion of 1 of 1 failed environments initiated";
    const nothing = { skipped: [], errors: [] };
    expect(reply.body).toEqual({ status: "success", message, cleaned: [{ id, name: "broken" }], ...nothing, total: 1 });
    expect((await cleanUp({})).body).toMatchObject({ cleaned: [], ...nothing, total: 0 });
    expect([await isLeaving("broken"), await isLeaving("fine"), await isLeaving("on-its-way")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("is rehearsed without a deletion", async () => {
    const id = await have("broken", failed());
    const reply = await cleanUp({ dry_run: true });
    expectPromised(reply, "post", CLEANUP);
    expect(reply.body).toMatchObject({
      message: expect.stringContaining("would be"),
      cleaned: [{ id, name: "broken" }],
    });
    expect(await isLeaving("broken")).toBe(false);
  });

  const answering = (status: Condition["status"]) => ({
    ...failed({ conditions: [condition("UrlsReady", status)] }),
    readyAt: NOW,
    servingHash: "hash",
  });
  const failedFor = (hours: number) => ({ conditions: [condition("Ready", "False", hoursAgo(hours))] });
  const runs = "the version before the failure still runs";
  test.each<Judged>([
    {
      which: "is not built, because its manifest came back from Git unchanged",
      status: {
        ...failed(),
        manifest: { specHash: "a", switches: {}, writtenAt: NOW, fieldsHash: "b", refusedAfter: "expired" },
      },
      body: { include_running: true },
      reason: "it is not built at all: it stands for its manifest in Git",
    },
    { which: "is protected", spec: { protected: true }, body: { include_running: true }, reason: "it is protected" },
    {
      which: "is protected for a time",
      spec: { protectedUntil: NOW },
      body: { include_running: true },
      reason: "it is protected",
    },
    { which: "has a former version that answers", status: answering("True"), reason: runs },
    { which: "has a former version that may answer", status: answering("Unknown"), reason: runs },
    {
      which: "has a former version that sleeps",
      status: { readyAt: NOW, servingHash: "" },
      spec: { suspended: true },
      reason: "the version before the failure sleeps",
    },
    { which: "has just failed", body: { older_than_hours: 1 }, reason: "it has been failed for less than 1 h" },
    {
      which: "failed an hour ago",
      status: failedFor(1),
      body: { older_than_hours: 2 },
      reason: "it has been failed for less than 2 h",
    },
    { which: "failed two hours ago", status: failedFor(2), body: { older_than_hours: 2 } },
    { which: "has URLs that are down", status: answering("False") },
    { which: "never answered since it was woken", status: { ...answering("Unknown"), servingHash: "" } },
    { which: "still runs, where that counts for nothing", status: answering("True"), body: { include_running: true } },
  ])("of one that $which: kept because $reason", async ({ status = {}, spec, body, reason }) => {
    const id = await have("judged", { ...failed(), ...status }, spec);
    const reply = await cleanUp(body);
    expect(reply.body.skipped).toEqual(reason === undefined ? [] : [{ id, name: "judged", reason }]);
    expect(reply.body).toMatchObject({ errors: [], total: 1 });
    expect(await isLeaving("judged")).toBe(reason === undefined);
  });

  test("by one team does not touch those of another, nor name them", async () => {
    await have("theirs", failed());
    const reply = await cleanUp({ include_running: true }, "stranger");
    expect(reply.body).toMatchObject({ cleaned: [], skipped: [], errors: [], total: 0 });
    expect(await isLeaving("theirs")).toBe(false);
    expectProblem(await cleanUp({}, "viewer"), 403);
    expect((await cleanUp({}, "maintainer")).body.cleaned).toHaveLength(1);
  });

  test("lists environments that can't be deleted, and goes on", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `broken-${index}`);
    for (const name of names) await have(name, failed());
    api.service.environments.failNext(new Error("secret internals at /var/run"));
    const reply = await cleanUp();
    expectPromised(reply, "post", CLEANUP);
    expect(reply.body).toMatchObject({
      total: 30,
      errors: [{ id: expect.any(String), detail: "Internal server error" }],
    });
    expect(reply.body.cleaned).toHaveLength(29);
    expect(api.service.log.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  test("leaves an environment that was protected in the meantime", async () => {
    const id = await have("broken", failed());
    api.service.environments.failNext(
      new EnvironmentConflict("The environment is protected: remove the protection first"),
    );
    const reply = await cleanUp();
    expect(reply.body).toMatchObject({ errors: [], skipped: [{ id, reason: expect.stringContaining("protected") }] });
  });

  test("checks an environment again that changed since it was read", async () => {
    const healed = await have("healed", failed());
    const extended = await have("extended", failed());
    const list = api.service.environments.list();
    for (const { metadata } of list) {
      const current = (await api.service.environments.find(metadata.uid)) as EphemeralEnvironment;
      api.service.environments.put({
        ...current,
        ...(metadata.uid === healed ? { status: { phase: "ready" } } : {}),
      });
    }
    api.service.environments.page = () => ({ items: list, total: list.length });
    const reply = await cleanUp();
    expect(reply.body.cleaned).toEqual([{ id: extended, name: "extended" }]);
    expect(reply.body.skipped).toEqual([{ id: healed, name: "healed", reason: "it is no longer failed" }]);
    expect(await isLeaving("healed")).toBe(false);
  });

  test("is 503 while the cluster can't be reached", async () => {
    await have("broken", failed());
    api.service.environments.setReachable(false);
    const reply = await cleanUp();
    expectProblem(reply, 503, /Kubernetes API/);
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    expectPromised(reply, "post", CLEANUP);
  });

  test.each([
    [{ older_than_hours: -1 }],
    [{ older_than_hours: 1.5 }],
    [{ older_than_hours: "2" }],
    [{ dry_run: "true" }],
    [{ include_protected: true }],
    [[]],
  ])("refuses %j and deletes nothing", async (body) => {
    await have("broken", failed());
    const reply = await cleanUp(body);
    expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
    expect(await isLeaving("broken")).toBe(false);
  });

  test("has a path that no environment has", async () => {
    const authorization = await api.service.bearer("developer");
    const body = { environment_name: "cleanup-failed", backend_repo: "shop-api", backend_branch: "main" };
    expectProblem(await post("/api/environments", "developer", body), 400, /reserved/, "ENV_CONFIG_INVALID");
    for (const method of ["get", "put", "delete"] as const) {
      const reply = await api.service.http[method](CLEANUP).set({ authorization });
      expectProblem(reply, 405, "Method not allowed");
      expect(reply.headers.allow).toBe("POST");
    }
  });
});
