import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { namespaceName } from "../../../crds/names.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import { configMapKind, resourceQuotaKind } from "../../../operator/kit/client/kinds.ts";
import { resourceType } from "../../../operator/kit/client/objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { untilCounted } from "../../support/plane/counted-quota.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
  await world.create("greedy-shop");
  await world.expectPhase("greedy-shop", "ready");
}, 90_000);
afterAll(() => world.stop(), 60_000);

const namespace = namespaceName("greedy-shop");

const core = (kind: string, plural: string) =>
  resourceType({ group: "", version: "v1", kind, plural, namespaced: true });
const pods = core("Pod", "pods");

const podDraft = (name: string, resources: object = {}, spec: object = {}) => ({
  metadata: { name, namespace },
  spec: {
    ...spec,
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "main",
        image: "docker.io/local/none",
        resources,
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      },
    ],
  },
});

async function refusalOf(type: Parameters<World["admin"]["create"]>[0], draft: object): Promise<string> {
  const error = await world.admin.create(type, draft as never).catch((refusal: unknown) => refusal);
  if (!(error instanceof KubeError) || error.status !== 403) throw new Error(`not refused: ${JSON.stringify(error)}`);
  return error.detail();
}

describe("abuse case 82: a chart that takes too much is refused", () => {
  beforeAll(async () => {
    // Before the quota's count, and without the account, no pod is accepted.
    const account = core("ServiceAccount", "serviceaccounts");
    await untilCounted(world.admin, "greedy-shop");
    await until(() => world.admin.find(account, { name: "default", namespace }), {
      what: "a ServiceAccount",
      deadlineMs: 30_000,
    });
  }, 60_000);

  test.each([
    {
      name: "1000 CPU",
      resources: { requests: { cpu: "1000" } },
      words: "exceeded quota: environment, requested: requests.cpu=1k",
    },
    { name: "a terabyte of memory", resources: { limits: { memory: "1Ti" } }, words: "exceeded quota: environment" },
    {
      name: "a terabyte of its node's disk",
      resources: { limits: { "ephemeral-storage": "1Ti" } },
      words: "exceeded quota: environment, requested: limits.ephemeral-storage=1Ti",
    },
  ])("a pod with $name", async ({ resources, words }) => {
    expect(await refusalOf(pods, podDraft("greedy", resources))).toContain(words);
  });

  test("a volume larger than all that the environment may have", async () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Ti" } } };
    const claims = core("PersistentVolumeClaim", "persistentvolumeclaims");
    const words = await refusalOf(claims, { metadata: { name: "greedy", namespace }, spec });
    expect(words).toContain("exceeded quota: environment, requested: requests.storage=1Ti");
  });

  test.each(["LoadBalancer", "NodePort"])("a Service of type %s", async (type) => {
    const draft = { metadata: { name: "open", namespace }, spec: { type, ports: [{ port: 80 }] } };
    expect(await refusalOf(core("Service", "services"), draft)).toContain(`has the type ClusterIP, not ${type}`);
  });

  test.each(["system-node-critical", "system-cluster-critical"])(
    "abuse case 100: a pod that others make way for, by %s",
    async (priorityClassName) => {
      const words = await refusalOf(pods, podDraft("greedy", {}, { priorityClassName }));
      expect(words).toContain("exceeded quota: priority-classes, requested: pods=1");
    },
  );

  test("abuse case 101: objects without end", async () => {
    const maps = Array.from({ length: 80 }, (_, index) =>
      world.admin
        .create(configMapKind, { metadata: { name: `bomb-${index}`, namespace } })
        .catch((error: KubeError) => error.detail()),
    );
    const refused = (await Promise.all(maps)).filter((outcome) => typeof outcome === "string");
    expect(refused.length).toBeGreaterThanOrEqual(20);
    const words = "exceeded quota: environment, requested: count/configmaps=1";
    expect(refused.filter((text) => !text.includes(words))).toEqual([]);
  }, 60_000);

  test("but not a pod that says nothing: its container may fill a part of its node's disk", async () => {
    const draft = podDraft("modest");
    const made: object = await world.admin.create(pods, draft as never);
    const [container] = (made as { spec: { containers: { resources: object }[] } }).spec.containers;
    expect(container?.resources).toMatchObject({
      requests: { "ephemeral-storage": "0" },
      limits: { "ephemeral-storage": "2Gi" },
    });
    await world.admin.delete(pods, draft.metadata);
  });

  test("more pods than the quota has, however many CronJobs ask for them", async () => {
    // The pods of the tests before are still counted for a moment.
    const isFree = async () => {
      const quota = await world.admin.find(resourceQuotaKind, { name: "environment", namespace });
      return (quota?.status as { readonly used?: { readonly pods?: string } } | undefined)?.used?.pods === "0";
    };
    await until(isFree, { what: "the quota without pods", deadlineMs: 30_000 });
    const bomb = Array.from({ length: 40 }, (_, index) =>
      world.admin.create(pods, podDraft(`bomb-${index}`) as never).catch((error: KubeError) => error.detail()),
    );
    const outcomes = await Promise.all(bomb);
    const refused = outcomes.filter((outcome) => typeof outcome === "string");
    const running = await world.admin.list(pods, { namespace });
    expect(running.items).toHaveLength(30);
    expect(refused).toHaveLength(10);
    expect(refused.every((words) => words.includes("exceeded quota: environment"))).toBe(true);
  }, 60_000);
});
