import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { namespaceName } from "../../../crds/names.ts";
import { canonicalQuantity } from "../../../crds/quantity.ts";
import { kubernetesCluster } from "../../../operator/adapters/kubernetes/cluster.ts";
import {
  allowedTrafficObject,
  defaultDenyObject,
  limitRangeObject,
  priorityQuotaObject,
  quotaObject,
} from "../../../operator/controllers/environment/desired/isolation.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import {
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
} from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { environmentFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { QUANTITY_SPELLINGS } from "../../support/fixtures/quantity-spellings.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const environment = environmentFixture({ metadata: { name: unique("isolated-") } });
const namespace = namespaceName(environment.metadata.name);
let client: KubeClient;

beforeAll(async () => {
  const kubeConfig = kubeConfigOf(plane, plane.adminToken);
  client = createKubeClient({ kubeConfig, userAgent: "isolation-test" });
  await client.create(namespaceKind, { metadata: { name: namespace } });
});

afterAll(async () => {
  await client.delete(namespaceKind, { name: namespace });
  await client.close();
});

/** Settings are cloned, and under Jest a clone has another realm's prototypes: strictly unequal to ours. */
function ofThisRealm<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

const policies = {
  ingressFrom: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: "ingress" } } }],
  dns: [{ ipBlock: { cidr: "10.0.0.10/32" } }],
  egressTo: [
    { ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.0/8"] } },
    { ipBlock: { cidr: "::/0" } },
    { ipBlock: { cidr: "10.1.2.0/24" } },
    { namespaceSelector: {} },
    { namespaceSelector: { matchExpressions: [{ key: "team", operator: "In", values: ["shop"] }] }, podSelector: {} },
  ],
};

describe("an object of the isolation, once made, is what is wanted, however the settings spell it", () => {
  test.each([
    { name: "the defaults", isolation: {} },
    {
      name: "odd spellings",
      isolation: {
        quota: { "requests.cpu": "4000m", "limits.memory": "1024Mi", "requests.storage": "1.5Gi", pods: "1000" },
        defaultLimit: { cpu: "0.5", memory: "1048576Ki" },
        defaultRequest: { cpu: "0.0505" },
        objects: { "count/configmaps": "1e3" },
        ephemeralStorage: { quota: "1024Mi", defaultRequest: "0.5Mi", defaultLimit: "1048576Ki" },
        priorityClasses: ["batch", "default"],
        ...policies,
      },
    },
    { name: "nothing limited", isolation: { quota: {}, objects: {}, defaultLimit: {}, defaultRequest: {}, dns: [] } },
  ])("$name", async ({ isolation }) => {
    const settings = ofThisRealm(settingsFrom({ ...testSettings, isolation }));
    const cluster = kubernetesCluster({ client, watched: new Map(), clock: systemClock });
    const desired = [
      [resourceQuotaKind, quotaObject(environment, settings.isolation)],
      [resourceQuotaKind, priorityQuotaObject(environment, settings.isolation)],
      [limitRangeKind, limitRangeObject(environment, settings.isolation)],
      [networkPolicyKind, defaultDenyObject(environment)],
      [networkPolicyKind, allowedTrafficObject(environment, settings)],
    ] as const;
    for (const [kind, object] of desired) {
      const outcomes = [
        await cluster.ensure(environment.metadata, kind, object),
        await cluster.ensure(environment.metadata, kind, object),
      ];
      await client.delete(kind, object.metadata);
      expect([kind.kind, ...outcomes]).toEqual([kind.kind, "created", "unchanged"]);
    }
  });
});

test("the API server leaves every canonical spelling alone, and means the same by the others", async () => {
  const stored = async (name: string, amount: string) => {
    const draft = { metadata: { name, namespace }, spec: { hard: { "requests.cpu": amount } } };
    const { spec } = await client.create(resourceQuotaKind, draft as never);
    return (spec as typeof draft.spec).hard["requests.cpu"];
  };
  const rows = QUANTITY_SPELLINGS.map(async ([given, expected], index) => ({
    expected,
    canonical: await stored(`canonical-${index}`, expected),
    meant: canonicalQuantity(await stored(`given-${index}`, given)),
  }));
  for (const { expected, canonical, meant } of await Promise.all(rows)) {
    expect([canonical, meant]).toEqual([expected, expected]);
  }
});
