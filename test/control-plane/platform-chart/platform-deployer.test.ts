import { beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import {
  type ArgoChange,
  AUTOSCALED,
  argoApplication,
  argoCd,
  argoProject,
  SERVER,
  SOURCE,
  SYNC_POLICY,
} from "../../support/plane/chart/argocd-objects.ts";
import { given, uidLabel } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const ours = unique("env-deployer-");
const foreign = unique("env-prod-");
const { applications, projects } = argoCd;
const onlyOurs = "the platform writes only applications and projects env-* that carry the label";
const itsOwn = "belongs to the project, and goes to the namespace, of its own name";
const onlySource =
  "is a folder of a repository, or a chart of one, with a releaseName and a valuesObject for helm and nothing else";
const onlyFields =
  "has only a project, one source, a destination, a syncPolicy, a revisionHistoryLimit and ignoreDifferences";
const onlyAutoscaled = "ignores no differences but the ones that kube-controller-manager, by an autoscaler, makes";
const onlySync = "has automated, retry and the syncOptions CreateNamespace=false, and no others";
const bothOptions = "the syncOptions CreateNamespace=false, RespectIgnoreDifferences=true, and no others";
const onlyOperation = "starts no operation but a sync of what the spec says";
const onlyHere = "admits only the namespace of its own name in this cluster, and no cluster-scoped kinds";
const onlyBounds = "has only a description, sourceRepos, destinations and a namespaceResourceWhitelist";
const onlyKinds = "admits the kinds that the chart of an environment may make, and no others";
const onlyRepository =
  "admits one repository of charts, by its URL: not by a pattern, and without the segments . and ..";
const argoCdStatus = "is Argo CD's: the platform ";
const onlyLabels = "labels applications and projects only with";
const onlyAnnotations = "annotates applications and projects only with";
const onlyFinalizer = "adds no finalizer to applications and projects but";

const to = (destination: object): ArgoChange => ({ spec: { destination } });
const from = (source: object): ArgoChange => ({ spec: { source: { ...SOURCE, ...source } } });
const helm = (change: object) => from({ helm: { releaseName: "environment", ...change } });
const sync = (change: object): ArgoChange => ({ spec: { syncPolicy: { ...SYNC_POLICY, ...change } } });
const labelled = (key: string): ArgoChange => ({ metadata: { labels: { [uidLabel]: "one", [key]: "x" } } });
const annotated = (key: string): ArgoChange => ({ metadata: { annotations: { [key]: "x" } } });
const operating = (change: object): ArgoChange => ({
  beside: { operation: { sync: { prune: true, syncOptions: SYNC_POLICY.syncOptions, ...change } } },
});
const RESPECTING = [...SYNC_POLICY.syncOptions, "RespectIgnoreDifferences=true"];
const ignoring = (ignoreDifferences: readonly object[], syncOptions: readonly string[] = RESPECTING): ArgoChange => ({
  spec: { ignoreDifferences, syncPolicy: { ...SYNC_POLICY, syncOptions } },
});
const [ofDeployments = {}, ofStatefulSets = {}] = AUTOSCALED;
const drySource = { repoURL: SOURCE.repoURL, path: ".", targetRevision: "main" };
const hydrator = { drySource, syncSource: { targetBranch: "main", path: "env" } };
const info = [{ name: "url", value: "javascript:alert(1)" }];
const file = [{ name: "a", path: "/etc/passwd" }];

/** Fields by which an application would reach beyond its environment. */
const ofApplications: readonly [what: string, change: ArgoChange, words: string][] = [
  ["another project", { spec: { project: "default" } }, itsOwn],
  ["another namespace", to({ server: SERVER, namespace: "kube-system" }), itsOwn],
  ["another cluster", to({ server: "https://other.test", namespace: ours }), itsOwn],
  ["a cluster by its name", to({ name: "prod", namespace: ours }), itsOwn],
  ["more sources", { spec: { sources: [SOURCE] } }, onlyFields],
  ["a hydrator", { spec: { sourceHydrator: hydrator } }, onlyFields],
  ["differences of others to ignore", ignoring([{ kind: "Service" }]), onlyAutoscaled],
  ["one more difference to ignore", ignoring([...AUTOSCALED, { kind: "Service" }]), onlyAutoscaled],
  ["fewer differences to ignore", ignoring([ofDeployments]), onlyAutoscaled],
  ["no difference to ignore, said", ignoring([]), onlyAutoscaled],
  [
    "differences of any kind of workload to ignore",
    ignoring([{ ...ofDeployments, kind: "*" }, ofStatefulSets]),
    onlyAutoscaled,
  ],
  [
    "differences to ignore that Argo CD makes",
    ignoring([{ ...ofDeployments, managedFieldsManagers: ["argocd-controller"] }, ofStatefulSets]),
    onlyAutoscaled,
  ],
  [
    "differences to ignore by their place, too",
    ignoring([{ ...ofDeployments, jsonPointers: ["/spec"] }, ofStatefulSets]),
    onlyAutoscaled,
  ],
  ["differences that a sync overwrites", ignoring(AUTOSCALED, SYNC_POLICY.syncOptions), bothOptions],
  ["an option for differences without any", sync({ syncOptions: RESPECTING }), onlySync],
  ["words for people", { spec: { info } }, onlyFields],
  ["a plugin", from({ plugin: { name: "sh" } }), onlySource],
  ["a chart of a Helm repository that is also a folder", from({ chart: "shop" }), onlySource],
  ["a source for values beside it", from({ ref: "values" }), onlySource],
  ["values of another file", helm({ valueFiles: ["https://evil.test/values.yaml"] }), onlySource],
  ["files as values", helm({ fileParameters: file }), onlySource],
  ["credentials for all", helm({ passCredentials: true }), onlySource],
  ["a namespace to be made", sync({ syncOptions: ["CreateNamespace=true"] }), onlySync],
  ["no sync options", sync({ syncOptions: [] }), onlySync],
  ["labels for its namespace", sync({ managedNamespaceMetadata: { labels: { a: "b" } } }), onlySync],
  ["an operation with manifests of its own", operating({ manifests: ["{}"] }), onlyOperation],
  ["an operation with another source", operating({ source: SOURCE }), onlyOperation],
  ["an operation with other options", operating({ syncOptions: [] }), onlyOperation],
  ["a status", { beside: { status: { sync: { status: "Synced" } } } }, argoCdStatus],
  ["the label of another application", labelled("app.kubernetes.io/instance"), onlyLabels],
  ["messages to be sent", annotated("notifications.argoproj.io/subscribe.x.y"), onlyAnnotations],
  ["a link for people", annotated("link.argocd.argoproj.io/external-link"), onlyAnnotations],
  ["a finalizer of others", { metadata: { finalizers: ["example.test/never"] } }, onlyFinalizer],
];

const destinations = (...list: object[]): ArgoChange => ({ spec: { destinations: list } });
const everyKind = [{ group: "*", kind: "*" }];
const account = { server: SERVER, namespace: ours, defaultServiceAccount: "default" };

/** Permissions that a project could give. */
const ofProjects: readonly [what: string, change: ArgoChange, words: string][] = [
  ["every namespace", destinations({ server: SERVER, namespace: "*" }), onlyHere],
  ["every cluster", destinations({ server: "*", namespace: ours }), onlyHere],
  ["no destination", destinations(), onlyHere],
  ["cluster-scoped kinds", { spec: { clusterResourceWhitelist: everyKind } }, onlyHere],
  ["every kind", { spec: { namespaceResourceWhitelist: everyKind } }, onlyKinds],
  ["an empty list of kinds", { spec: { namespaceResourceWhitelist: [] } }, onlyKinds],
  ["a pattern of repositories", { spec: { sourceRepos: ["https://git.test/*"] } }, onlyRepository],
  ["a second repository", { spec: { sourceRepos: [SOURCE.repoURL, "https://evil.test/x.git"] } }, onlyRepository],
  ["no repository", { spec: { sourceRepos: [] } }, onlyRepository],
  ...["..", ".", "%2e%2E", ".%2e", "..%2fevil"].map((segment): [string, ArgoChange, string] => [
    `a repository behind the segment ${segment}`,
    { spec: { sourceRepos: [`https://git.test/team/${segment}/evil.git`] } },
    onlyRepository,
  ]),
  ...[
    "oci://registry.test/charts/*",
    "oci://registry.test/charts/../evil/shop",
    "oci://registry.test/%2e%2e/shop",
    "oci://user:word@registry.test/shop",
    "oci://registry.test/charts/{shop,evil}",
    "registry.test/charts/shop",
    "!oci://registry.test/charts/shop",
  ].map((url): [string, ArgoChange, string] => [
    `the registry ${url}`,
    { spec: { sourceRepos: [url] } },
    onlyRepository,
  ]),
  ["a role", { spec: { roles: [{ name: "me", groups: ["everybody"] }] } }, onlyBounds],
  ["an account to write as", { spec: { destinationServiceAccounts: [account] } }, onlyBounds],
  ["applications of other namespaces", { spec: { sourceNamespaces: ["*"] } }, onlyBounds],
  ["keys that sign", { spec: { signatureKeys: [{ keyID: "0123456789ABCDEF" }] } }, onlyBounds],
  ["orphans to look for", { spec: { orphanedResources: { warn: true } } }, onlyBounds],
  ["a window", { spec: { syncWindows: [{ kind: "deny" }] } }, onlyBounds],
  ["a status", { beside: { status: { jwtTokensByRole: {} } } }, argoCdStatus],
  ["a label of others", labelled("example.test/project"), onlyLabels],
];

const patchOf = ({ beside, ...change }: ArgoChange) => ({ ...change, ...beside });

describe("abuse case 96: who holds the platform's token", () => {
  let admin: ApiCalls;
  let platform: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    await given(admin, applications, argoApplication(foreign, { metadata: { labels: {} } }));
    await given(platform, projects, argoProject(ours, labelled("app.kubernetes.io/managed-by")));
    await given(platform, applications, argoApplication(ours, labelled("app.kubernetes.io/managed-by")));
  }, 60_000);

  async function refused(reply: ReturnType<ApiCalls["get"]>, words: string): Promise<void> {
    expect(await reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  }

  test.each(ofApplications)("makes no application with %s, and gives it to none", async (_, change, words) => {
    await refused(platform.create(`${applications}?dryRun=All`, argoApplication(ours, change)), words);
    await refused(platform.patch(`${applications}/${ours}?dryRun=All`, patchOf(change)), words);
  });

  test.each(ofProjects)("makes no project with %s, and gives it to none", async (_, change, words) => {
    await refused(platform.create(`${projects}?dryRun=All`, argoProject(ours, change)), words);
    await refused(platform.patch(`${projects}/${ours}?dryRun=All`, patchOf(change)), words);
  });

  test("makes nothing without our label, or under a name that no environment has", async () => {
    for (const [path, make] of [
      [applications, argoApplication],
      [projects, argoProject],
    ] as const) {
      await refused(platform.create(`${path}?dryRun=All`, make(ours, { metadata: { labels: {} } })), onlyOurs);
      await refused(platform.create(`${path}?dryRun=All`, make("shop")), onlyOurs);
    }
  });

  test("neither changes nor deletes an application that is not the platform's", async () => {
    const path = `${applications}/${foreign}`;
    await refused(platform.patch(path, { metadata: { labels: { [uidLabel]: "mine" } } }), onlyOurs);
    await refused(platform.delete(path), onlyOurs);
    expect(await admin.get(path)).toMatchObject({ status: 200 });
  });

  test("works beside what others wrote into an application, and may take it out again", async () => {
    const path = `${applications}/${ours}`;
    const status = { sync: { status: "Synced", comparedTo: { destination: {}, source: SOURCE } } };
    const theirs = { ...annotated("example.test/theirs"), spec: { info }, status };
    expect(await admin.patch(path, theirs)).toMatchObject({ status: 200 });
    const refresh = annotated("argocd.argoproj.io/refresh");
    const retry = patchOf(operating({}));
    expect(await platform.patch(`${path}?dryRun=All`, { ...refresh, ...retry })).toMatchObject({ status: 200 });
    expect(await platform.patch(path, { spec: { info: null } })).toMatchObject({ status: 200 });
  });

  test("leaves the replicas of autoscalers to them, also in an operation, and takes that back", async () => {
    const name = unique("env-scaled-");
    const path = `${applications}/${name}`;
    await given(platform, applications, argoApplication(name, ignoring(AUTOSCALED)));
    const retry = { operation: { sync: { prune: true, syncOptions: RESPECTING } } };
    expect(await platform.patch(`${path}?dryRun=All`, retry)).toMatchObject({ status: 200 });
    await refused(platform.patch(`${path}?dryRun=All`, patchOf(operating({}))), onlyOperation);
    const back = { spec: { ignoreDifferences: null, syncPolicy: SYNC_POLICY } };
    expect(await platform.patch(path, back)).toMatchObject({ status: 200 });
    await refused(platform.patch(`${path}?dryRun=All`, retry), onlyOperation);
  });

  test("ends an operation that runs, and says nothing else of it", async () => {
    const name = unique("env-ending-");
    const path = `${applications}/${name}`;
    await given(platform, applications, argoApplication(name));
    const syncResult = {
      revision: "a",
      source: SOURCE,
      resources: [{ kind: "Job", name: "migrate", version: "v1", group: "batch", namespace: name }],
    };
    const operationState = { phase: "Running", startedAt: "2026-01-01T00:00:00Z", operation: { sync: {} }, syncResult };
    const running = { status: { health: { status: "Healthy" }, operationState } };
    expect(await admin.patch(path, running)).toMatchObject({ status: 200 });
    const reported = (change: object, beside: object = {}) =>
      platform.patch(`${path}?dryRun=All`, { status: { ...beside, operationState: change } });
    expect(await reported({ phase: "Terminating" })).toMatchObject({ status: 200 });
    for (const change of [
      { phase: "Succeeded" },
      { phase: "Terminating", message: "it was fine" },
      { phase: "Terminating", operation: { sync: { revision: "b" } } },
      { phase: "Terminating", syncResult: null },
    ]) {
      await refused(reported(change), argoCdStatus);
    }
    await refused(reported({ phase: "Terminating" }, { health: { status: "Degraded" } }), argoCdStatus);
    await refused(reported({ phase: "Terminating" }, { health: null }), argoCdStatus);
    await refused(reported({ phase: "Terminating" }, { resources: [] }), argoCdStatus);
    expect(await admin.patch(path, { status: { operationState: { phase: "Succeeded" } } })).toMatchObject({
      status: 200,
    });
    await refused(reported({ phase: "Terminating" }), argoCdStatus);
  });
});
