import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { kubernetesPods } from "../../../../../operator/adapters/kubernetes/pods.ts";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import type { PodProblem } from "../../../../../operator/ports/pods.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  silence,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { EXCEEDED, refusedDeployment } from "./broken-pods.ts";

const NAMESPACE = "/api/v1/namespaces/env-shop";
const LOG = `${NAMESPACE}/pods/backend-5f7c-x/log`;
const PASSWORD = "correct-horse/battery+staple";

let server: FakeApiServer;
let client: KubeClient;
let clock: TestClock;

beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig });
  clock = new TestClock();
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const text =
  (body: string): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/plain" }).end(body);
  };

const log = (written: string) => text(written.replace(/^(?=.)/gm, "2026-01-01T00:00:00.000000001Z "));

const list = (...items: object[]) => json({ metadata: { resourceVersion: "1" }, items });

type Values = Readonly<Record<string, string>> | undefined;

const listed = (secrets: Readonly<Record<string, Values>>) =>
  list(
    ...Object.entries(secrets).flatMap(([name, values]) => {
      const data = Object.entries(values ?? {}).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
      return values === undefined ? [] : [{ metadata: { name }, data: Object.fromEntries(data) }];
    }),
  );

const crashing = {
  metadata: {
    name: "backend-5f7c-x",
    namespace: "env-shop",
    uid: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { "app.kubernetes.io/component": "backend" },
  },
  spec: {
    containers: [
      {
        name: "backend",
        image: "shop:1",
        envFrom: [{ secretRef: { name: "environment-secrets-1" } }],
        env: [{ name: "EXTRA", valueFrom: { secretKeyRef: { name: "extra", key: "a" } } }],
      },
    ],
    volumes: [{ projected: { sources: [{ secret: { name: "mounted" } }] } }],
  },
  status: {
    containerStatuses: [
      {
        name: "backend",
        ready: false,
        restartCount: 4,
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { exitCode: 1, message: `ended with ${PASSWORD}` } },
      },
    ],
  },
};

const waitingFor = (reason: string, message: string) => ({
  ...crashing,
  status: {
    containerStatuses: [{ name: "backend", ready: false, restartCount: 0, state: { waiting: { reason, message } } }],
  },
});

interface World {
  readonly pod?: object;
  readonly log?: Answer;
  readonly secrets?: Readonly<Record<string, Values>>;
  /** Replaces the Secrets. */
  readonly refusal?: Answer | undefined;
}

async function trouble({
  pod = crashing,
  log: written = text(""),
  secrets = {},
  refusal,
}: World = {}): Promise<PodProblem> {
  const there = { "environment-secrets-1": { A: PASSWORD }, extra: {}, mounted: {}, ...secrets };
  server.on(({ path }) => path === `${NAMESPACE}/pods`, list(pod));
  server.on(({ path }) => path === "/apis/apps/v1/namespaces/env-shop/deployments", list());
  server.on(({ path }) => path === LOG, written);
  server.on(({ path }) => path === `${NAMESPACE}/secrets`, refusal ?? listed(there));
  const [first] = (
    await kubernetesPods(client, clock, ["database"]).diagnose({ name: "shop", uid: "u" }, [], { backend: {} })
  ).problems;
  if (first === undefined) throw new Error("no trouble was found");
  return first;
}

describe("what a container said last", () => {
  test("costs nothing until it is asked for: two reads find the problem", async () => {
    await trouble();
    expect(server.seen.map(({ path }) => path).sort()).toEqual([
      "/api/v1/namespaces/env-shop/pods",
      "/apis/apps/v1/namespaces/env-shop/deployments",
    ]);
  });

  test("is asked for in twenty lines, of the run that ended", async () => {
    await (await trouble({ log: log("a\n") })).evidence();
    const requested = server.seen.find(({ path }) => path === LOG)?.query;
    expect(Object.fromEntries(requested ?? [])).toEqual({
      container: "backend",
      timestamps: "true",
      tailLines: "20",
      limitBytes: "65536",
    });
  });

  test("is of the run before when the container runs again", async () => {
    const [container] = crashing.status.containerStatuses;
    const again = { ...crashing, status: { containerStatuses: [{ ...container, state: { running: {} } }] } };
    await (await trouble({ pod: again, log: log("a\n") })).evidence();
    expect(server.seen.find(({ path }) => path === LOG)?.query.get("previous")).toBe("true");
  });

  test("is masked with the values of every Secret that the pod sees, in whatever form", async () => {
    const lines = [`raw ${PASSWORD}`, `url ${encodeURIComponent(PASSWORD)}`, `b64 ${btoa(PASSWORD)}`, "two three four"];
    const secrets = { extra: { B: "two" }, mounted: { C: "three" } };
    const shown = await (await trouble({ log: log(lines.join("\n")), secrets })).evidence();
    expect(shown).toMatch(/^raw \*\*\*\nurl \*\*\*\nb64 \*\*\*\S{0,4}\n\*\*\* \*\*\* four$/);
  });

  test("without a log is what it left as its last words, masked too", async () => {
    const gone = status(400, "BadRequest");
    expect(await (await trouble({ log: gone })).evidence()).toBe("ended with ***");
  });

  test("is nothing that the kubelet says itself, of a run that it has removed", async () => {
    const removed = text("unable to retrieve container logs for containerd://4f");
    expect(await (await trouble({ log: removed })).evidence()).toBe("ended with ***");
  });

  test.each([
    ["is gone", undefined],
    ["may not be read", status(403, "Forbidden")],
    ["can't be read", json({}, 500)],
  ])("is not shown when a Secret %s: what can't be known can't be masked", async (_what, refusal) => {
    const secrets = { "environment-secrets-1": undefined };
    expect(await (await trouble({ log: log(PASSWORD), secrets, refusal })).evidence()).toBe("");
  });

  test("is shown when an optional Secret is not there: it has no value", async () => {
    const [container] = crashing.spec.containers;
    const optional = { ...container, env: [{ valueFrom: { secretKeyRef: { name: "extra", optional: true } } }] };
    const volumes = [{ secret: { secretName: "mounted", optional: true } }];
    const pod = { ...crashing, spec: { containers: [optional], volumes } };
    const secrets = { extra: undefined, mounted: undefined };
    const shown = await trouble({ pod, log: log(`raw ${PASSWORD}`), secrets });
    expect(await shown.evidence()).toBe("raw ***");
  });

  test("by the cluster alone is masked, too", async () => {
    const message = `can't pull with ${PASSWORD}`;
    expect(await (await trouble({ pod: waitingFor("ErrImagePull", message) })).evidence()).toBe("can't pull with ***");
  });

  test("by the cluster alone is shown also when it is that a Secret is not there", async () => {
    const pod = waitingFor("CreateContainerConfigError", `secret "extra" not found beside ${PASSWORD}`);
    const shown = await trouble({ pod, secrets: { extra: undefined } });
    expect(await shown.evidence()).toBe('secret "extra" not found beside ***');
  });

  test("abuse 91: costs one read of Secrets, however many the pod names", async () => {
    await (await trouble({ log: log("a\n") })).evidence();
    expect(server.seen.filter(({ path }) => path.includes("/secrets"))).toHaveLength(1);
  });

  test("abuse 90: says so when its secrets can't be masked in time and memory", async () => {
    const secrets = { extra: { B: "x".repeat(400 * 1024) } };
    const shown = await (await trouble({ log: log("xxx\n"), secrets })).evidence();
    expect(shown).toMatch(/^what was written is not shown, because its secrets can't be masked: /);
  });

  test("is awaited for five seconds", async () => {
    const shown = (await trouble({ log: silence })).evidence();
    await until(() => server.seen.some(({ path }) => path === LOG));
    clock.advance(5_000);
    expect(await shown).toBe("ended with ***");
    expect(clock.pending).toEqual([]);
  });

  test("is at most 2 KiB, and of a flood of bytes nothing that could be half a value", async () => {
    const long = await (await trouble({ log: log(`${"x".repeat(400)}\n`.repeat(20)) })).evidence();
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(2048);
    expect(long.split("\n")).toHaveLength(5);
  });

  test("ends before a line that was cut off", async () => {
    const cut = `first\n${"y".repeat(65_520)}${PASSWORD}`;
    expect(await (await trouble({ log: log(cut) })).evidence()).toBe("first");
  });

  test("is no reason to fail when the node is silent", async () => {
    const reset: Answer = (_request, response) => response.socket?.resetAndDestroy();
    expect(await (await trouble({ log: reset })).evidence()).toBe("ended with ***");
  });
});

describe("the component of a problem", () => {
  const labelled = (labels: object) => ({ ...crashing, metadata: { ...crashing.metadata, labels } });

  test.each([
    ["is what its label says", { "app.kubernetes.io/component": "backend" }, { component: "backend" }],
    [
      "is what its label says, also of a backing service",
      { "app.kubernetes.io/name": "database" },
      { component: "database" },
    ],
    ["is the backend, where no label says another", { app: "api" }, { component: "backend", isUnlabelled: true }],
  ])("%s", async (_name, labels, expected) => {
    const { component, isUnlabelled } = await trouble({ pod: labelled(labels) });
    expect({ component, ...(isUnlabelled === undefined ? {} : { isUnlabelled }) }).toEqual(expected);
  });

  test("is that of the template, where there is no pod", async () => {
    server.on(({ path }) => path === `${NAMESPACE}/pods`, list());
    const { metadata, ...refused } = refusedDeployment(EXCEEDED);
    const template = { metadata: { labels: { "app.kubernetes.io/name": "frontend" } } };
    const deployment = { ...refused, metadata: { ...metadata, labels: {} }, spec: { template } };
    server.on(({ path }) => path === "/apis/apps/v1/namespaces/env-shop/deployments", list(deployment));
    const pods = kubernetesPods(client, clock, []);
    const { problems } = await pods.diagnose({ name: "shop", uid: "u" }, [], { backend: {}, frontend: {} });
    expect(problems).toMatchObject([{ component: "frontend", object: { kind: "Deployment", name: "frontend" } }]);
  });
});

test("the last output of a CronJob is that of its newest run", async () => {
  const ofJob = { ...crashing.metadata, ownerReferences: [{ kind: "Job", name: "report-1", uid: "job" }] };
  server.on(({ path }) => path === `${NAMESPACE}/pods`, list({ ...crashing, metadata: ofJob }));
  const job = { metadata: { name: "report-1", uid: "job", ownerReferences: [{ kind: "CronJob", name: "report" }] } };
  server.on(({ path }) => path === "/apis/batch/v1/namespaces/env-shop/jobs", list(job));
  server.on(({ path }) => path === LOG, log("reported\n"));
  server.on(
    ({ path }) => path === `${NAMESPACE}/secrets`,
    listed({ "environment-secrets-1": {}, extra: {}, mounted: {} }),
  );
  const pods = kubernetesPods(client, clock, []);
  expect(await pods.lastOutput({ name: "shop", uid: "u" }, { kind: "CronJob", name: "report" })).toBe("reported");
});

describe("the readiness of a component", () => {
  const podOf = (uid: string, ready: string, more: object = {}) => ({
    metadata: {
      name: `database-${uid}`,
      namespace: "env-shop",
      uid,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...more,
      labels: { "app.kubernetes.io/component": "database" },
    },
    status: { conditions: [{ type: "Ready", status: ready }] },
  });

  test.each([
    { name: "is absent without a pod", pods: [], expected: "absent" },
    { name: "is that of its pod", pods: [podOf("0", "True")], expected: "ready" },
    { name: "is that of all of them", pods: [podOf("0", "True"), podOf("1", "False")], expected: "unready" },
    {
      name: "does not count what is going",
      pods: [podOf("0", "True", { deletionTimestamp: "2026-01-01T00:00:09Z" })],
      expected: "absent",
    },
  ])("$name", async ({ pods, expected }) => {
    server.on(({ path }) => path === `${NAMESPACE}/pods`, list(...pods));
    expect(await kubernetesPods(client, clock, ["database"]).readiness({ name: "shop", uid: "u" }, "database")).toBe(
      expected,
    );
    const [{ query } = { query: new URLSearchParams() }, ...more] = server.seen;
    expect([query.get("labelSelector"), more.length]).toEqual(["app.kubernetes.io/component=database", 0]);
  });
});

describe("the commits of the pods", () => {
  const podOf = (
    uid: string,
    component: string,
    { commit, ...more }: { commit?: string; readonly [of: string]: unknown },
  ) => ({
    metadata: {
      name: `pod-${uid}`,
      namespace: "env-shop",
      uid,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { "app.kubernetes.io/component": component },
      ...more,
      ...(commit === undefined ? {} : { annotations: { "ephemeral-environments.dev/commit": commit } }),
    },
  });
  const ofReplicaSet = (uid: string) => ({ ownerReferences: [{ uid, kind: "ReplicaSet", name: uid }] });

  test.each([
    { name: "are none without pods", pods: [], expected: {} },
    {
      name: "are those of their annotation, by component",
      pods: [
        podOf("0", "backend", { commit: "a" }),
        podOf("1", "backend", { commit: "a" }),
        podOf("2", "frontend", { commit: "b" }),
      ],
      expected: { backend: "a", frontend: "b" },
    },
    {
      name: "are not known where one pod says none, or another one",
      pods: [
        podOf("0", "backend", { commit: "a" }),
        podOf("1", "backend", {}),
        podOf("2", "frontend", { commit: "a" }),
        podOf("3", "frontend", { commit: "b" }),
      ],
      expected: {},
    },
    {
      name: "do not count what is replaced or going",
      pods: [
        podOf("0", "backend", { commit: "a", ...ofReplicaSet("old") }),
        podOf("1", "backend", { commit: "b", ...ofReplicaSet("new"), creationTimestamp: "2026-01-01T00:01:00Z" }),
        podOf("2", "backend", { commit: "c", deletionTimestamp: "2026-01-01T00:02:00Z" }),
      ],
      expected: { backend: "b" },
    },
  ])("$name", async ({ pods, expected }) => {
    server.on(({ path }) => path === `${NAMESPACE}/pods`, list(...pods));
    const commits = await kubernetesPods(client, clock, ["database"]).commits(
      { name: "shop", uid: "u" },
      { backend: {}, frontend: {} },
    );
    expect(Object.fromEntries(commits)).toEqual(expected);
    expect(server.seen).toHaveLength(1);
  });
});

test("what has living pods is named as the chart has it, each once", async () => {
  const pod = (name: string, owner: object | undefined, more: object = {}) => ({
    metadata: {
      name,
      namespace: "env-shop",
      uid: name,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...(owner === undefined ? {} : { ownerReferences: [{ uid: "1", ...owner }] }),
      labels: { "pod-template-hash": "5f7c" },
    },
    ...more,
  });
  const deployment = { kind: "ReplicaSet", name: "web-5f7c" };
  const leaving = pod("leaving-0", { kind: "StatefulSet", name: "leaving" });
  server.on(({ path }) => path.endsWith("/jobs"), list());
  server.on(
    ({ path }) => path === `${NAMESPACE}/pods`,
    list(
      pod("web-1", deployment),
      pod("web-2", deployment),
      pod("cache-0", { kind: "StatefulSet", name: "cache" }),
      pod("once-1", { kind: "Job", name: "once" }, { status: { phase: "Succeeded" } }),
      pod("alone", undefined),
      { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    ),
  );
  expect(await kubernetesPods(client, clock, []).running({ name: "shop", uid: "u" })).toEqual([
    { kind: "Deployment", name: "web" },
    { kind: "Pod", name: "alone" },
    { kind: "StatefulSet", name: "cache" },
  ]);
  // The pods, and the Jobs that may be a CronJob's.
  expect(server.seen).toHaveLength(2);
});
