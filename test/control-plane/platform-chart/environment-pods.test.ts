import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  podSpec,
  type WorkloadKind,
  workload,
  workloadPaths,
} from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { type CopiedPolicies, copiedPolicies } from "../../support/plane/chart/copied-policies.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const namespace = unique("env-podded-");
const foreign = unique("foreign-");
const kinds = Object.keys(workloadPaths) as WorkloadKind[];
const ofKubernetes = (name: string) => ({
  user: `system:serviceaccount:kube-system:${name}`,
  groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:masters"],
});
const deployer = {
  user: "system:serviceaccount:argocd:argocd-application-controller",
  groups: ["system:serviceaccounts", "system:serviceaccounts:argocd", "system:masters"],
};

const volume = (source: object) => podSpec({ volumes: [{ name: "some", ...source }] });
const projected = (source: object) => volume({ projected: { sources: [source] } });
const term = (terms: object) => ({ topologyKey: "kubernetes.io/hostname", labelSelector: {}, ...terms });
const toleration = (one: object) => podSpec({ tolerations: [one] });
const probe = { httpGet: { host: "169.254.169.254", port: 80 } };
const initContainers = (container: object) =>
  podSpec({ initContainers: (podSpec({}, { name: "first", ...container }) as { containers: object[] }).containers });

const pullSecret = "names the Secret image-pull";
const fields = "which a pod of an environment has not";
const tokens = "a ServiceAccount token";
const tolerated = "environments.pods.tolerations";
/** Younger versions of Pod Security refuse it in a pod before the policy does. */
const hosts = "has no host|probe or lifecycle host";
const elsewhere = "names namespaces";
const refused: readonly [what: string, spec: object, words: string][] = [
  ["the registry's credential as a volume", volume({ secret: { secretName: "image-pull" } }), pullSecret],
  ["the registry's credential in a projected volume", projected({ secret: { name: "image-pull" } }), pullSecret],
  [
    "the registry's credential as variables",
    podSpec({}, { envFrom: [{ secretRef: { name: "image-pull" } }] }),
    pullSecret,
  ],
  [
    "the registry's credential as a variable",
    podSpec(
      {},
      { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "image-pull", key: ".dockerconfigjson" } } }] },
    ),
    pullSecret,
  ],
  [
    "the registry's credential in a container that comes first",
    initContainers({ envFrom: [{ secretRef: { name: "image-pull" } }] }),
    pullSecret,
  ],
  ["a volume of a CSI driver", volume({ csi: { driver: "secrets-store.csi.k8s.io" } }), "environments.pods.csiDrivers"],
  ["a node of its choice", podSpec({ nodeName: "master-1" }), fields],
  ["gates of its own", podSpec({ schedulingGates: [{ name: "x.test/never" }] }), fields],
  ["devices", podSpec({ resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }] }), fields],
  ["every toleration", toleration({ operator: "Exists" }), tolerated],
  [
    "a place on the control plane",
    toleration({ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule", operator: "Exists" }),
    tolerated,
  ],
  ["a place on nodes of others", toleration({ key: "team", value: "billing", effect: "NoSchedule" }), tolerated],
  ["a token for the API server", podSpec({ automountServiceAccountToken: true }), tokens],
  ["a token for the API server as a volume", projected({ serviceAccountToken: { path: "token" } }), tokens],
  [
    "a token for a cloud",
    projected({ serviceAccountToken: { path: "token", audience: "sts.amazonaws.com" } }),
    "environments.pods.tokenAudiences",
  ],
  ["another scheduler", podSpec({ schedulerName: "first-come" }), "environments.pods.schedulers"],
  ...["podAffinity", "podAntiAffinity"].flatMap((affinity): [string, object, string][] =>
    [{ namespaceSelector: {} }, { namespaces: ["kube-system"] }].flatMap((where): [string, object, string][] => [
      [
        `a ${affinity} to ${Object.keys(where)} that holds for others`,
        podSpec({ affinity: { [affinity]: { requiredDuringSchedulingIgnoredDuringExecution: [term(where)] } } }),
        elsewhere,
      ],
      [
        `a wish by ${affinity} about ${Object.keys(where)} that holds for others`,
        podSpec({
          affinity: {
            [affinity]: {
              preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(where) }],
            },
          },
        }),
        elsewhere,
      ],
    ]),
  ),
  ["a probe of other addresses", podSpec({}, { livenessProbe: probe }), hosts],
  ["a hook at other addresses", podSpec({}, { lifecycle: { preStop: probe } }), hosts],
];

/** Kubernetes' additions to a pod, by controllers and by admission, and common fields of charts. */
const usual = podSpec(
  {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "arch", operator: "In", values: ["amd64"] }] }],
        },
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [term({ namespaces: [namespace] }), term({})],
      },
    },
    tolerations: [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 },
    ],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {} },
    ],
    imagePullSecrets: [{ name: "image-pull" }],
    nodeSelector: { pool: "environments" },
    schedulerName: "default-scheduler",
    terminationGracePeriodSeconds: 10,
    enableServiceLinks: false,
    initContainers: (podSpec({}, { name: "first" }) as { containers: object[] }).containers,
    volumes: [
      { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
      { name: "data", persistentVolumeClaim: { claimName: "data" } },
      { name: "files", configMap: { name: "files" } },
      { name: "own", secret: { secretName: "environment-secrets-0a1b2c3d" } },
      { name: "all", projected: { sources: [{ configMap: { name: "files" } }, { secret: { name: "tls" } }] } },
    ],
  },
  {
    envFrom: [{ secretRef: { name: "environment-secrets-0a1b2c3d" } }],
    env: [
      { name: "A", value: "b" },
      { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "B", valueFrom: { secretKeyRef: { name: "environment-secrets-0a1b2c3d", key: "B" } } },
    ],
    ports: [{ name: "http", containerPort: 8080 }],
    readinessProbe: { httpGet: { path: "/healthz", port: "http" } },
    lifecycle: { preStop: { sleep: { seconds: 1 } } },
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  },
);

const dryRun = (kind: WorkloadKind, place = namespace) => `${workloadPaths[kind](place)}?dryRun=All`;

describe("abuse case 117: pods of an environment", () => {
  let admin: ApiCalls;
  let platform: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(namespace));
    await given(admin, paths.namespaces, { metadata: { name: foreign } });
    for (const place of [namespace, foreign]) await untilAccount(admin, place);
  }, 60_000);

  afterAll(async () => {
    await platform.delete(`${paths.namespaces}/${namespace}`);
    await admin.delete(`${paths.namespaces}/${foreign}`);
  });

  test("have no token where a ServiceAccount of the chart's own says so, and are refused where it does not", async () => {
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await given(admin, accounts, { metadata: { name: "without" }, automountServiceAccountToken: false });
    await given(admin, accounts, { metadata: { name: "with" } });
    const of = (serviceAccountName: string) => podSpec({ automountServiceAccountToken: undefined, serviceAccountName });
    for (const kind of kinds) {
      expect(await admin.create(dryRun(kind), workload(kind, of("without")))).toMatchObject({
        message: "",
        status: 201,
      });
    }
    expect(await admin.create(dryRun("Pod"), workload("Pod", of("with")))).toMatchObject({
      status: 403,
      message: expect.stringContaining("volumes has a ServiceAccount token"),
    });
    const said = podSpec({ automountServiceAccountToken: true, serviceAccountName: "without" });
    expect(await admin.create(dryRun("Deployment"), workload("Deployment", said))).toMatchObject({ status: 403 });
  });

  test("have no token where they name no ServiceAccount, once `default` gives none: until then they are refused", async () => {
    const nothing = podSpec({ automountServiceAccountToken: undefined });
    for (const kind of kinds.filter((one) => one !== "Pod")) {
      expect(await admin.create(dryRun(kind), workload(kind, nothing))).toMatchObject({ message: "", status: 201 });
    }
    const words = "volumes has a ServiceAccount token";
    const spelled = podSpec({ automountServiceAccountToken: undefined, serviceAccountName: "default" });
    const pod = (spec: object) => admin.create(dryRun("Pod"), workload("Pod", spec));
    for (const spec of [nothing, spelled]) {
      expect(await pod(spec)).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    }
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    expect(await platform.patch(account, { automountServiceAccountToken: false })).toMatchObject({ status: 200 });
    for (const spec of [nothing, spelled]) {
      await until(async () => (await pod(spec)).status === 201, { what: "the account to give none" });
      const { object } = await pod(spec);
      expect(JSON.stringify(object)).not.toContain("serviceAccountToken");
    }
  });

  test.each(refused)("have not %s, nor does what makes them", async (_, spec, words) => {
    const argo = callsAs(plane, deployer);
    const template = await argo.create(dryRun("Deployment"), workload("Deployment", spec));
    expect(template).toMatchObject({ status: 403, message: expect.stringMatching(words) });
    expect(template.message).toContain("spec.template.spec");
    const pod = await admin.create(dryRun("Pod"), workload("Pod", spec));
    expect(pod).toMatchObject({ status: 403, message: expect.stringMatching(words) });
  });

  test.each(kinds)("are held to it by each kind: %s", async (kind) => {
    const reply = await admin.create(dryRun(kind), workload(kind, podSpec({ nodeName: "master-1" })));
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(fields) });
    expect(await admin.create(dryRun(kind), workload(kind, usual))).toMatchObject({ message: "", status: 201 });
    expect(await admin.create(dryRun(kind, foreign), workload(kind, podSpec({ nodeName: "x" })))).toMatchObject({
      status: 201,
    });
  });

  test("may be large: judging them stays within what the API server spends on it", async () => {
    const names = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    const env = names(200, "VARIABLE").map((name) => ({ name: name.replace("-", "_"), value: "x" }));
    const volumeMounts = names(50, "volume").map((name) => ({ name, mountPath: `/mnt/${name}` }));
    const containers = names(20, "container").map((name) => ({
      ...container(podOf(podSpec({}, { env, volumeMounts }))),
      name,
    }));
    const volumes = names(50, "volume").map((name) => ({ name, emptyDir: {} }));
    const large = podSpec({ containers, volumes });
    for (const kind of ["Pod", "CronJob"] as const) {
      expect(await admin.create(dryRun(kind), workload(kind, large))).toMatchObject({ message: "", status: 201 });
    }
  });

  test("do not become worse, and what makes them may be scaled", async () => {
    const path = `${workloadPaths.Deployment(namespace)}/main`;
    await given(admin, workloadPaths.Deployment(namespace), workload("Deployment", usual));
    const worse = { spec: { template: { spec: { schedulerName: "first-come" } } } };
    expect(await admin.patch(path, worse)).toMatchObject({ status: 403 });
    expect(await admin.patch(path, { spec: { replicas: 2 } })).toMatchObject({ status: 200 });
    expect(await admin.delete(path)).toMatchObject({ status: 200 });
  });

  test("come from their controllers with what those add", async () => {
    const daemon = podSpec({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["node-1"] }] }],
          },
        },
      },
      tolerations: [
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
      ].map((condition) => ({ key: `node.kubernetes.io/${condition}`, operator: "Exists" })),
    });
    const daemons = callsAs(plane, ofKubernetes("daemon-set-controller"));
    expect(await daemons.create(dryRun("Pod"), workload("Pod", daemon))).toMatchObject({ message: "", status: 201 });
    const stateful = podSpec({ hostname: "main-0", subdomain: "main" });
    const statefuls = callsAs(plane, ofKubernetes("statefulset-controller"));
    expect(await statefuls.create(dryRun("Pod"), workload("Pod", stateful))).toMatchObject({
      message: "",
      status: 201,
    });
  });

  test("are bound by the scheduler, and then relabelled, debugged and deleted", async () => {
    const pods = workloadPaths.Pod(namespace);
    await given(admin, pods, workload("Pod", usual));
    const binding = { metadata: { name: "main" }, target: { kind: "Node", name: "node-1" } };
    expect(await admin.create(`${pods}/main/binding`, binding)).toMatchObject({ message: "", status: 201 });
    const bound = await admin.get(`${pods}/main`);
    expect(bound.object).toMatchObject({ spec: { nodeName: "node-1" } });
    expect(await admin.patch(`${pods}/main`, { metadata: { labels: { a: "b" } } })).toMatchObject({ status: 200 });
    const image = { containers: [{ ...container(bound.object), image: "registry.test/none:2" }] };
    expect(await admin.patch(`${pods}/main`, { spec: image })).toMatchObject({ message: "", status: 200 });
    const debugging = (change: object) => ({
      spec: { ephemeralContainers: [{ ...container(podOf(podSpec())), name: "debug", ...change }] },
    });
    const stealing = debugging({ envFrom: [{ secretRef: { name: "image-pull" } }] });
    const reply = await admin.patch(`${pods}/main/ephemeralcontainers`, stealing);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(pullSecret) });
    const plain = await admin.patch(`${pods}/main/ephemeralcontainers`, debugging({ targetContainerName: "main" }));
    expect(plain).toMatchObject({ message: "", status: 200 });
    expect(await admin.delete(`${pods}/main`, { gracePeriodSeconds: 0 })).toMatchObject({ status: 200 });
  });
});

describe("pods of an environment, where the values allow more", () => {
  const allowing = unique("allowing-");
  const environments = {
    pods: {
      tolerations: [
        { key: "dedicated", value: "environments", effect: "NoSchedule" },
        { key: "spot", operator: "Exists" },
      ],
      schedulers: ["bin-packing"],
      csiDrivers: ["secrets-store.csi.k8s.io"],
      tokenAudiences: ["sts.amazonaws.com"],
      automountServiceAccountToken: true,
    },
  };
  let admin: ApiCalls;
  let copies: CopiedPolicies;

  beforeAll(async () => {
    admin = administrator(plane);
    await given(admin, paths.namespaces, { metadata: { name: allowing } });
    await untilAccount(admin, allowing);
    copies = await copiedPolicies(admin, { names: ["environment-pods"], namespace: allowing, environments });
    const check = async () => {
      const { status } = await admin.create(dryRun("Pod", allowing), workload("Pod", podSpec({ nodeName: "x" })));
      return status === 403;
    };
    await until(check, { what: "the rules for pods to hold", deadlineMs: 20_000 });
  }, 60_000);

  afterAll(async () => {
    await copies.remove();
    await admin.delete(`${paths.namespaces}/${allowing}`);
  });

  test.each([
    ["a taint by its value", toleration({ key: "dedicated", value: "environments", effect: "NoSchedule" })],
    ["a taint of any value and effect", toleration({ key: "spot", operator: "Exists" })],
    ["another scheduler", podSpec({ schedulerName: "bin-packing" })],
    ["a CSI driver", volume({ csi: { driver: "secrets-store.csi.k8s.io", readOnly: true } })],
    ["a token for a cloud", projected({ serviceAccountToken: { path: "token", audience: "sts.amazonaws.com" } })],
    ["a token for the API server", podSpec({ automountServiceAccountToken: true })],
    ["a token for the API server by default", podSpec({ automountServiceAccountToken: undefined })],
  ])("have %s", async (_, spec) => {
    expect(await admin.create(dryRun("Job", allowing), workload("Job", spec))).toMatchObject({
      message: "",
      status: 201,
    });
    // With all additions of admission, including the token's volume.
    expect(await admin.create(dryRun("Pod", allowing), workload("Pod", spec))).toMatchObject({
      message: "",
      status: 201,
    });
  });

  test.each([
    ["another value", toleration({ key: "dedicated", value: "billing", effect: "NoSchedule" })],
    ["another effect", toleration({ key: "dedicated", value: "environments", effect: "NoExecute" })],
    ["every value of it", toleration({ key: "dedicated", operator: "Exists", effect: "NoSchedule" })],
    ["a third scheduler", podSpec({ schedulerName: "first-come" })],
    ["another CSI driver", volume({ csi: { driver: "other.example.test" } })],
    ["another cloud's token", projected({ serviceAccountToken: { path: "token", audience: "vault" } })],
  ])("but not %s", async (_, spec) => {
    expect(await admin.create(dryRun("Job", allowing), workload("Job", spec))).toMatchObject({ status: 403 });
    expect(await admin.create(dryRun("Pod", allowing), workload("Pod", spec))).toMatchObject({ status: 403 });
  });
});

/** Waits for the account, without which no pod is accepted. */
async function untilAccount(admin: ApiCalls, place: string): Promise<void> {
  const check = async () => (await admin.get(`/api/v1/namespaces/${place}/serviceaccounts/default`)).status === 200;
  await until(check, { what: "a ServiceAccount", deadlineMs: 30_000 });
}

const podOf = (spec: object) => ({ spec });
const container = (pod: object) => (pod as { spec: { containers: [object] } }).spec.containers[0];
