import { afterAll, expect, jest, test } from "@jest/globals";
import { chartUrl, commitFile, removeBranch } from "./support/chart-repository.ts";
import { Environments, find, untilReady } from "./support/environments.ts";
import { refresh } from "./support/git-application.ts";
import { apply, kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { waitUntil } from "./support/wait.ts";

/** The longest test waits for a hook's retries, and for the end of its environment. */
const STORY_DEADLINE_MS = 600_000;
jest.setTimeout(STORY_DEADLINE_MS);

const environments = new Environments();
const repositories: string[] = [];
const chartRepository = await chartUrl();

afterAll(async () => {
  await environments.removeAll();
  for (const name of repositories) await kubectl("delete", "erepo", name, "--namespace=ephemeral-system");
  for (const branch of repositories) await removeBranch(branch);
});

const SECURITY = `
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}`;
const RESTRICTED = "{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}";
const container = (name: string, command: string, more = "") => `
      containers:
        - name: ${name}
          image: {{ .Values.backend.image | quote }}
          command: ${command}
          env: [{name: PORT, value: "8080"}]
          securityContext: ${RESTRICTED}${more}`;
const SERVES = "[/sample, backend]";
const SUCCEEDS = '[/sample, get, "http://backend/"]';
const FAILS = '[/sample, get, "http://127.0.0.1:1/nothing"]';

const job = (name: string, command: string, { annotation = "", spec = "backoffLimit: 0" } = {}) => `
---
apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, annotations: {${annotation}}}
spec:
  ${spec}
  template:
    spec:
      restartPolicy: Never${SECURITY}${container(name, command)}`;

const workload = (kind: string, name: string, { fields = "", pod = SECURITY, more = "" }) => `
---
apiVersion: apps/v1
kind: ${kind}
metadata: {name: ${name}}
spec:
  ${fields}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:${pod}${container(name, SERVES, more)}`;

const HOOK = '"helm.sh/hook": "pre-install,pre-upgrade"';
const MOUNT = "\n          volumeMounts: [{name: branding, mountPath: /branding}]";
const missing = workload("Deployment", "report", {
  more: `${MOUNT}\n      volumes: [{name: branding, configMap: {name: report-branding}}]`,
});
const refused = `
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache}
spec:
  serviceName: cache
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      automountServiceAccountToken: false
      containers: [{name: cache, image: {{ .Values.backend.image | quote }}, securityContext: {capabilities: {add: [NET_ADMIN]}}}]`;
const quiet = `
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: backend}
spec:
  maxReplicas: 2
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: backend}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: spare}
spec: {accessModes: [ReadWriteOnce], storageClassName: absent, resources: {requests: {storage: 1Mi}}}
${job("later", SERVES, { spec: "suspend: true" })}`;
const scaled = `${workload("Deployment", "web", {
  fields: "replicas: {{ ternary 0 1 (default false .Values.suspended) }}",
})}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 2
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]`;
/** A CronJob that runs each minute; in its second revision it fails. */
const scheduled = (command: string) => `
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never${SECURITY.replaceAll("\n", "\n    ")}${container("report", command).replaceAll("\n", "\n    ")}`;

/** Registers a chart like the sample's with one more template, on a branch of its own. */
async function register(purpose: string, template: string): Promise<string> {
  const name = `e2e-${purpose}-${environments.mark}`;
  repositories.push(name);
  await commitFile(name, "templates/extra.yaml", template);
  const sample = await read<{ spec: object }>("erepo", "sample-backend", "--namespace=ephemeral-system");
  const metadata = { name, namespace: "ephemeral-system" };
  const chart = { repoUrl: chartRepository, path: ".", revision: name };
  const kind = { apiVersion: "ephemeral-environments.dev/v1", kind: "Repository" };
  await apply({ ...kind, metadata, spec: { ...sample.spec, chart } });
  return name;
}

async function make(name: string, repository: string, variables?: Readonly<Record<string, string>>): Promise<void> {
  const env = Object.entries(variables ?? {}).map(([key, value]) => ({ name: key, value }));
  const overrides = variables === undefined ? {} : { overrides: { backend: { env } } };
  const spec = { ttlHours: 1, backend: { repository, branch: "main" }, ...overrides };
  const kind = { apiVersion: "ephemeral-environments.dev/v1", kind: "EphemeralEnvironment" };
  await apply({ ...kind, metadata: { name }, spec });
}

async function messageOf(name: string, type: string): Promise<string> {
  return (await find(name)).status?.conditions?.find((condition) => condition.type === type)?.message ?? "";
}

async function untilReported(
  name: string,
  words: readonly string[],
  { type = "ApplicationSynced", seconds = 75 } = {},
) {
  let last = "";
  const check = async () => {
    last = await messageOf(name, type);
    return words.every((word) => last.includes(word));
  };
  const what = () => `${words.join(" and ")} in ${type} of ${name} (it says ${last})`;
  await waitUntil({ what, check, deadlineMs: seconds * 1_000, pollMs: 500 });
}

test.concurrent("a hook that hangs is named with its last lines; a corrected chart ends it, and so does a deletion", async () => {
  const hook = job("migrate", SERVES, { annotation: HOOK });
  const repository = await register("hook", hook);
  const [name, other] = [environments.name("hook"), environments.name("hook-gone")];
  await Promise.all([make(name, repository), make(other, repository)]);
  const words = ["Job/migrate (hook PreSync)", "Last output of Job/migrate", '"msg":"listening"'];
  await Promise.all([untilReported(name, words), untilReported(other, words)]);

  const { metadata } = await find(other);
  await kubectl("delete", "eenv", other, "--wait=false");
  await waitFor(["--for=delete", `eenv/${other}`], 60);
  const record = await read<{ spec: { takenOver?: string } }>("erec", metadata.uid, "--namespace=ephemeral-system");
  expect(record.spec.takenOver).toBeUndefined();

  await commitFile(repository, "templates/extra.yaml", "# mended\n");
  await refresh(`env-${name}`);
  await untilReady(name);
});

test.concurrent("a hook that fails is named with its last lines", async () => {
  const name = environments.name("failed-hook");
  await make(name, await register("failed-hook", job("seed", FAILS, { annotation: HOOK })));
  await untilReported(name, ["Job/seed (hook PreSync)", "Last output of Job/seed", "127.0.0.1:1"], { seconds: 150 });
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`]);
});

test.concurrent("whatever fails beside what serves is named with its kind and Kubernetes' words", async () => {
  const name = environments.name("broken");
  await make(name, await register("broken", `${job("once", FAILS)}${refused}${missing}`));
  const ofJob = ["Job/once", "Last output of Job/once", "127.0.0.1:1"];
  await untilReported(name, ofJob);
  const others = [
    "StatefulSet/cache",
    "violates PodSecurity",
    "Deployment/report",
    'configmap "report-branding" not found',
  ];
  await untilReported(name, [...ofJob, ...others], { seconds: 120 });
});

test.concurrent("a Job that can't be changed says so with the way out and the end of Kubernetes' words", async () => {
  const name = environments.name("immutable");
  const given = job("endless", SERVES).replace(
    '"8080"}',
    '"8080"}, {name: GIVEN, value: {{ toJson .Values.backend.env | quote }}}',
  );
  const repository = await register("immutable", given);
  await make(name, repository);
  await untilReported(name, ["Job/endless: has not ended", '"msg":"listening"']);
  await make(name, repository, { OTHER: "one" });
  await untilReported(name, ["Job/endless: it can't be changed", "Force=true,Replace=true", "field is immutable"], {
    seconds: 120,
  });
});

test.concurrent("what carries no traffic keeps no environment from being ready or updated, and is named", async () => {
  const name = environments.name("quiet");
  const repository = await register("quiet", quiet);
  await make(name, repository);
  await untilReady(name);
  const words = [
    "HorizontalPodAutoscaler/backend can't scale",
    "PersistentVolumeClaim/spare waits for a volume of the class 'absent', and no pod uses it",
    "Job/later is suspended",
  ];
  await untilReported(name, words, { type: "ResourcesHealthy" });
  await make(name, repository, { OTHER: "one" });
  const generation = (await read<{ status: { observedGeneration: number } }>("eenv", name)).metadata.generation;
  await waitFor([`--for=jsonpath={.status.observedGeneration}=${generation}`, `eenv/${name}`]);
  await untilReady(name);
  await untilReported(name, words, { type: "ResourcesHealthy" });
});

async function change(name: string, spec: object): Promise<void> {
  await kubectl("patch", "eenv", name, "--type=merge", `--patch=${JSON.stringify({ spec })}`);
  const { generation } = (await read<object>("eenv", name)).metadata;
  await waitFor([`--for=jsonpath={.status.observedGeneration}=${generation}`, `eenv/${name}`]);
  await untilReady(name);
}

interface SyncedApplication {
  readonly status: {
    readonly sync: { readonly status: string };
    readonly operationState: { readonly operation: { readonly sync: { readonly autoHealAttemptsCount?: number } } };
  };
}

test.concurrent("replicas that an autoscaler set are left to it, but for the sleep of the environment", async () => {
  const name = environments.name("scaled");
  await make(name, await register("scaled", scaled));
  await untilReady(name);
  const web = ["deployment/web", `--namespace=env-${name}`];
  await waitFor(["--for=jsonpath={.status.readyReplicas}=2", ...web]);

  // A sync for another reason, which writes all objects of the chart.
  await change(name, { overrides: { backend: { env: [{ name: "OTHER", value: "one" }] } } });
  await refresh(`env-${name}`);
  const said = await list<{ readonly message: string }>(
    "events",
    `--namespace=env-${name}`,
    "--field-selector=involvedObject.name=web,reason=ScalingReplicaSet",
  );
  expect(said.map(({ message }) => message.replace(/.* from/, "from")).sort()).toEqual(["from 0 to 1", "from 1 to 2"]);
  const { status } = await read<SyncedApplication>("application", `env-${name}`, "--namespace=argocd");
  expect(status.sync.status).toBe("Synced");
  expect(status.operationState.operation.sync).not.toHaveProperty("autoHealAttemptsCount");
  expect(await messageOf(name, "ResourcesHealthy")).not.toContain("keeps changing");

  await change(name, { suspended: true });
  await waitFor(["--for=jsonpath={.spec.replicas}=0", ...web]);
  await change(name, { suspended: false });
  await waitFor(["--for=jsonpath={.status.readyReplicas}=2", ...web]);
});

test.concurrent("an update does not wait for a CronJob whose last run failed, which is named", async () => {
  const name = environments.name("scheduled");
  const repository = await register("scheduled", scheduled(SUCCEEDS));
  await make(name, repository);
  await untilReady(name);
  const report = ["cronjob/report", `--namespace=env-${name}`];
  await waitFor(["--for=jsonpath={.status.lastSuccessfulTime}", ...report], 150);
  await commitFile(repository, "templates/extra.yaml", scheduled(FAILS));
  await refresh(`env-${name}`);
  const failing = ["CronJob/report did not succeed when it ran last"];
  await untilReported(name, failing, { type: "ResourcesHealthy", seconds: 240 });
  await change(name, { overrides: { backend: { env: [{ name: "OTHER", value: "one" }] } } });
  await untilReported(name, failing, { type: "ResourcesHealthy" });
});

test.concurrent("a Job that its TTL would remove runs once, and once more for an update that changes it", async () => {
  const name = environments.name("ttl");
  const seed = job("seed", SUCCEEDS, { spec: "backoffLimit: 6\n  ttlSecondsAfterFinished: 0" });
  const variable = '"8080"}, {name: GIVEN, value: {{ toJson .Values.backend.env | quote }}}';
  await make(name, await register("ttl", seed.replace('"8080"}', variable)));
  await untilReady(name);
  const place = `--namespace=env-${name}`;
  const first = await read<object>("job", "seed", place);
  await change(name, { overrides: { backend: { env: [{ name: "OTHER", value: "one" }] } } });
  const second = await read<object>("job", "seed", place);

  const ends = ["events", place, "--field-selector=involvedObject.kind=Job,reason=Completed"] as const;
  let ended: readonly string[] = [];
  const check = async () => {
    const events = await list<{ readonly involvedObject: { readonly uid: string } }>(...ends);
    ended = events.map(({ involvedObject }) => involvedObject.uid);
    return ended.includes(second.metadata.uid);
  };
  await waitUntil({ what: () => "the end of the second run", check, deadlineMs: 30_000, pollMs: 500 });
  expect([...ended].sort()).toEqual([first.metadata.uid, second.metadata.uid].sort());
  const { status } = await read<SyncedApplication>("application", `env-${name}`, "--namespace=argocd");
  expect(status.sync.status).toBe("Synced");
  expect(status.operationState.operation.sync).not.toHaveProperty("autoHealAttemptsCount");
  expect(await messageOf(name, "ResourcesHealthy")).not.toContain("keeps changing");
});
