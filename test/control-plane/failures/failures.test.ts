import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ConditionType, findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import { isWrite, type KubeRequest } from "../../../operator/kit/client/request.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import type { ProbeResult } from "../../../operator/ports/url-prober.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
const writes: KubeRequest[] = [];
let answer: Omit<ProbeResult, "responseTimeMs"> = { status: "healthy", message: "" };
let isSecretManagerDown = false;

beforeAll(async () => {
  world = await createWorld();
  await world.startOperator({
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

function expectReason(name: string, type: ConditionType, reason: string): Promise<EphemeralEnvironment> {
  return world.expectState(name, `saying ${reason}`, (found) => conditionOf(type, found)?.reason === reason);
}

const requested = (name: string) =>
  writes.filter((request) => request.type?.kind === "Application" && request.name === namespaceName(name));

describe("what the deployer can't do fails what is being made", () => {
  test.each([
    ["unrendered", "ChartInvalid", /chart gives no manifests.*ComparisonError: no template/],
    ["unsyncable", "SyncFailed", /did not take all that the chart makes: one or more objects failed to apply/],
  ] as const)(
    "%s: it is asked again by itself, and heals when that helps",
    async (fate, reason, message) => {
      const name = `app-${fate}`;
      world.argocd.decide(name, (_values, isRetried) => (isRetried ? "healthy" : fate));
      await world.create(name);
      const failed = await expectReason(name, "ApplicationSynced", reason);
      expect(failed.status?.phase).toBe("failed");
      expect(conditionOf("ApplicationSynced", failed)?.message).toMatch(message);

      await world.hurried(() => world.expectPhase(name, "ready"));
      // Created once, and no reconcile in between wrote to it.
      expect(requested(name).map(({ verb }) => verb)).toEqual(["create", "patch"]);
    },
    60_000,
  );

  test("a failure is shown without a break during retries, and reconciles write nothing", async () => {
    const name = "app-refused";
    world.argocd.decide(name, () => "unsyncable");
    await world.create(name);
    await expectReason(name, "ApplicationSynced", "SyncFailed");
    const before = writes.length;
    for (let pass = 0; pass < 5; pass += 1) await world.reconcile(name);
    const ours = writes.slice(before).filter(({ name: about }) => about === name);
    // One answer to each requested reconcile; on a slow machine a recurring one may have come meanwhile.
    expect(ours.map(({ verb, subresource }) => `${verb} ${subresource}`)).toEqual(Array(5).fill("patch status"));
    expect(requested(name).length).toBeLessThanOrEqual(2);
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
    const ready = await world.hurried(() => world.expectPhase("manager-down", "ready"));
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
