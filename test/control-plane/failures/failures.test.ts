import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ConditionType, findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { deploymentType, type Pod, podType } from "../../../operator/adapters/kubernetes/pod-objects.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import { isWrite, type KubeRequest } from "../../../operator/kit/client/request.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import type { ProbeResult } from "../../../operator/ports/url-prober.ts";
import { correctedClock } from "../../support/faults/skewed-clock.ts";
import { backendOnly, createWorld, type World } from "../../support/fixtures/environment-world.ts";
import { until } from "../../support/fixtures/until.ts";

let world: World;
const writes: KubeRequest[] = [];
let answer: Omit<ProbeResult, "responseTimeMs"> = { status: "healthy", message: "" };
let isSecretManagerDown = false;
const clock = correctedClock();

beforeAll(async () => {
  world = await createWorld();
  await world.startOperator({
    clock,
    onRequest(request, next) {
      if (isWrite(request.verb)) writes.push(request);
      return next();
    },
    prober: { probe: async (url) => ({ ...(url.includes("behind") ? answer : HEALTHY), responseTimeMs: 1 }) },
    onPorts: (context) => ({ ...context, secretManager: failingWhenDown(context.secretManager) }),
  });
}, 180_000);
afterAll(() => world.stop(), 60_000);

const HEALTHY = { status: "healthy", message: "it answered 200" } as const;

function failingWhenDown<T extends object>(port: T): T {
  return new Proxy(port, {
    get(target, method) {
      const call = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => {
        if (isSecretManagerDown) throw new SecretManagerUnavailable("the secret manager does not answer");
        return call.apply(target, args);
      };
    },
  });
}

const conditionOf = (type: ConditionType, { status }: EphemeralEnvironment) => findCondition(status?.conditions, type);

/** Waits until the condition has the reason; answers the environment as it was then. */
function expectReason(name: string, type: ConditionType, reason: string): Promise<EphemeralEnvironment> {
  return world.expectState(name, `saying ${reason}`, (found) => conditionOf(type, found)?.reason === reason);
}

/** The writes about an environment's application that were sent until now. */
const asked = (name: string) =>
  writes.filter((request) => request.type?.kind === "Application" && request.name === namespaceName(name));

const UNREADY_SINCE = "2026-01-01T00:00:00Z";

/** A pod as a kubelet would report it; none runs here. */
async function reportPod(environment: string, status: NonNullable<Pod["status"]>): Promise<void> {
  const namespace = namespaceName(environment);
  const labels = { "app.kubernetes.io/component": "backend" };
  const unprivileged = {
    ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
    seccompProfile: { type: "RuntimeDefault" },
  };
  const containers = [{ name: "backend", image: "shop:1", securityContext: unprivileged }];
  await world.admin.create(podType, { metadata: { name: "backend-1", namespace, labels }, spec: { containers } });
  const ready = { type: "Ready", status: "False", lastTransitionTime: UNREADY_SINCE };
  await world.admin.patch(
    podType,
    { name: "backend-1", namespace },
    { status: { conditions: [ready], ...status } },
    { as: "merge", subresource: "status" },
  );
}

const container = (state: object) => ({
  containerStatuses: [
    { ...{ name: "backend", image: "shop:1", imageID: "", ready: false, restartCount: 4, started: false }, ...state },
  ],
});

const podTroubles = [
  ["ImagePullFailed", container({ state: { waiting: { reason: "ImagePullBackOff", message: "not found" } } })],
  ["CrashLoop", container({ state: { terminated: { exitCode: 3, reason: "Error" } } })],
  ["ProbeFailing", container({ restartCount: 0, state: { running: { startedAt: UNREADY_SINCE } } })],
  [
    "Unschedulable",
    {
      conditions: [
        { type: "Ready", status: "False", lastTransitionTime: UNREADY_SINCE },
        { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" },
      ],
    },
  ],
] as const;

describe("pods that don't serve fail what is being made", () => {
  test.each(podTroubles)(
    "%s, until they do",
    async (reason, status) => {
      const name = `pods-${reason.toLowerCase()}`;
      world.argocd.decide(name, () => "degraded");
      await world.create(name);
      await world.expectState(
        name,
        "having a namespace",
        (found) => conditionOf("SecretsReady", found)?.status === "True",
      );
      await reportPod(name, status as NonNullable<Pod["status"]>);
      await outlast(name);
      const failed = await expectReason(name, "ApplicationSynced", reason);
      expect(failed.status?.phase).toBe("failed");
      expect(conditionOf("Ready", failed)).toMatchObject({
        status: "False",
        reason,
        message: expect.stringMatching(/^backend: /),
      });

      world.argocd.decide(name, () => "healthy");
      await world.expectPhase(name, "ready");
    },
    60_000,
  );

  test("QuotaExceeded, which only a Deployment tells", async () => {
    const name = "pods-quota";
    world.argocd.decide(name, () => "progressing");
    await world.create(name);
    await world.expectState(
      name,
      "having a namespace",
      (found) => conditionOf("SecretsReady", found)?.status === "True",
    );
    await reportRefusal(
      name,
      'pods "backend-1" is forbidden: exceeded quota: environment, requested: requests.cpu=100',
    );
    await outlast(name);
    const failed = await expectReason(name, "ApplicationSynced", "QuotaExceeded");
    expect(conditionOf("ApplicationSynced", failed)?.message).toMatch(
      /^backend: .*quota[\s\S]*requested: requests.cpu=100/,
    );
    world.argocd.decide(name, () => "healthy");
    await world.expectPhase(name, "ready");
  }, 60_000);
});

/** Lets a trouble last longer than any is put up with; then the clock is set right again, which heals nothing. */
async function outlast(name: string): Promise<void> {
  await world.reconcile(name);
  clock.correct(300_000);
  try {
    await world.reconcile(name);
  } finally {
    clock.correct(-300_000);
  }
}

/** A Deployment as its controller would report it; none runs here. */
async function reportRefusal(environment: string, message: string): Promise<void> {
  const ref = { name: "backend", namespace: namespaceName(environment) };
  const labels = { "app.kubernetes.io/component": "backend" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "backend", image: "shop:1" }] } };
  const spec = { selector: { matchLabels: labels }, template };
  await world.admin.create(deploymentType, { metadata: { ...ref, labels }, spec } as never);
  const refused = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message };
  const status = { observedGeneration: 1, conditions: [{ ...refused, lastTransitionTime: UNREADY_SINCE }] };
  await world.admin.patch(deploymentType, ref, { status }, { as: "merge", subresource: "status" });
}

describe("what the deployer can't do fails what is being made", () => {
  test.each([
    ["unrendered", "ChartInvalid", /chart gives no manifests.*ComparisonError: no template/],
    ["unsyncable", "SyncFailed", /did not take all that the chart makes: one or more objects failed to apply/],
  ] as const)(
    "%s: it is asked again by itself, and heals when that helps",
    async (fate, reason, message) => {
      const name = `app-${fate}`;
      world.argocd.decide(name, (_values, isAskedAgain) => (isAskedAgain ? "healthy" : fate));
      await world.create(name);
      const failed = await expectReason(name, "ApplicationSynced", reason);
      expect(failed.status?.phase).toBe("failed");
      expect(conditionOf("ApplicationSynced", failed)?.message).toMatch(message);

      await world.expectPhase(name, "ready");
      // Made once, asked once: no pass in between wrote to it.
      expect(asked(name).map(({ verb }) => verb)).toEqual(["create", "patch"]);
    },
    60_000,
  );

  test("a failure is shown without a break while it is tried again, and passes write nothing", async () => {
    const name = "app-refused";
    world.argocd.decide(name, () => "unsyncable");
    await world.create(name);
    await expectReason(name, "ApplicationSynced", "SyncFailed");
    const before = writes.length;
    for (let pass = 0; pass < 5; pass += 1) await world.reconcile(name);
    const ours = writes.slice(before).filter(({ name: about }) => about === name);
    // The answer to each question, and nothing else; on a slow machine the time to ask again may have come meanwhile.
    expect(ours.map(({ verb, subresource }) => `${verb} ${subresource}`)).toEqual(Array(5).fill("patch status"));
    expect(asked(name).length).toBeLessThanOrEqual(2);
    expect(conditionOf("ApplicationSynced", await world.expectPhase(name, "failed"))?.reason).toBe("SyncFailed");
  }, 60_000);
});

describe("what is down or taken is waited for", () => {
  test("the secret manager: waiting with a reason, and ready soon after its return", async () => {
    isSecretManagerDown = true;
    const made = await world.create("manager-down");
    try {
      const waiting = await expectReason("manager-down", "SecretsReady", "SecretManagerUnavailable");
      expect(waiting.status?.phase).toBe("creating");
      expect(conditionOf("SecretsReady", waiting)?.status).toBe("Unknown");
    } finally {
      isSecretManagerDown = false;
    }
    const ready = await world.expectPhase("manager-down", "ready");
    expect(ready.metadata.uid).toBe(made.metadata.uid);
  }, 60_000);

  test("a namespace's name that is taken: failed with a reason, and ready within 30 s of its release", async () => {
    const namespace = { name: namespaceName("taken") };
    await world.admin.create(namespaceKind, { metadata: namespace });
    await world.create("taken");
    const failed = await expectReason("taken", "NamespaceReady", "NameTaken");
    expect(failed.status?.phase).toBe("failed");
    await world.admin.delete(namespaceKind, namespace);
    await until(async () => (await world.find("taken"))?.status?.phase === "ready", {
      what: "the environment being ready",
      deadlineMs: 45_000,
    });
  }, 90_000);

  test.each([
    ["CertificateInvalid", { status: "unreachable", isCertificateRefused: true, message: "it has expired" }],
    ["NotAnswering", { status: "unreachable", message: "ECONNREFUSED" }],
    ["BadStatus", { status: "unhealthy", message: "it answered 503" }],
  ] as const)(
    "URLs: %s, until they answer",
    async (reason, said) => {
      const name = `behind-${reason.toLowerCase()}`;
      answer = said;
      await world.create(name, backendOnly);
      const waiting = await expectReason(name, "UrlsReady", reason);
      expect(conditionOf("UrlsReady", waiting)?.message).toContain(`backend: https://${name}--api`);
      answer = HEALTHY;
      await world.expectPhase(name, "ready");
    },
    60_000,
  );
});
