import { afterAll, expect, jest, test } from "@jest/globals";
import { chartUrl, commitFile, removeBranch } from "./support/chart-repository.ts";
import { Environments, find, madeFor, objectsNamed, untilReady } from "./support/environments.ts";
import { apply, kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { names } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

/** Two consecutive environments, each of which the platform takes over after a minute. */
const STORY_DEADLINE_MS = 900_000;
jest.setTimeout(STORY_DEADLINE_MS);

const environments = new Environments();
const repositories: string[] = [];
const branches: string[] = [];
const chartRepository = await chartUrl();

afterAll(async () => {
  await environments.removeAll();
  for (const name of repositories) await kubectl("delete", "erepo", name, "--namespace=ephemeral-system");
  for (const branch of branches) await removeBranch(branch);
});

const podSpec = (command: string, restartPolicy: string, { pod = "", container = "" } = {}) => `{
  restartPolicy: ${restartPolicy}, automountServiceAccountToken: false, ${pod}
  securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}},
  containers: [{
    name: held, image: {{ .Values.backend.image | quote }}, command: ${command},
    env: [{name: PORT, value: "8080"}], ${container}
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
  }]
}`;
const endlessJob = (annotation: string) => `
apiVersion: batch/v1
kind: Job
metadata: {name: endless, annotations: {${annotation}}}
spec: {backoffLimit: 0, template: {spec: ${podSpec("[/sample, backend]", "Never")}}}
`;
const configMap = (metadata: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: held, ${metadata}}
`;
interface Held {
  readonly form: string;
  readonly template: string;
  readonly applicationFinalizer?: string;
  readonly finalizer?: string;
  readonly times: number;
}

/** Additions to the sample's chart or by a user, and the number of tries. */
const held: readonly Held[] = [
  {
    form: "an object that is deleted only when a user confirms",
    template: configMap('annotations: {argocd.argoproj.io/sync-options: "Delete=confirm"}'),
    times: 2,
  },
  { form: "a hook before the deletion that never ends", template: endlessJob("helm.sh/hook: pre-delete"), times: 2 },
  {
    form: "a hook after the deletion that never ends",
    template: endlessJob("argocd.argoproj.io/hook: PostDelete"),
    applicationFinalizer: "post-delete-finalizer.argocd.argoproj.io",
    times: 2,
  },
  {
    form: "an object with the finalizer of a controller that is gone",
    template: configMap("labels: {}"),
    finalizer: "example.test/hold",
    times: 1,
  },
];

/** Objects of every kind that a chart may have and that needs no pod, as many as the quota allows. */
const manyObjects = `
{{- $image := .Values.backend.image | quote }}
{{- range $i := until 190 }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: "many-{{ $i }}"}
spec: {suspend: true, template: {spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: many, image: {{ $image }}}]}}}
{{- end }}
{{- range $i := until 57 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "many-{{ $i }}"}
{{- end }}
{{- range $i := until 28 }}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: "many-{{ $i }}"}
---
apiVersion: v1
kind: Service
metadata: {name: "many-{{ $i }}"}
spec: {selector: {app: many}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "many-{{ $i }}"}
spec: {replicas: 0, selector: {matchLabels: {app: many}}, template: {metadata: {labels: {app: many}}, spec: {automountServiceAccountToken: false, containers: [{name: many, image: {{ $image }}}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: "many-{{ $i }}"}
spec: {replicas: 0, serviceName: many-0, selector: {matchLabels: {app: many}}, template: {metadata: {labels: {app: many}}, spec: {automountServiceAccountToken: false, containers: [{name: many, image: {{ $image }}}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: "many-{{ $i }}"}
spec: {schedule: "0 0 1 1 *", suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: many, image: {{ $image }}}]}}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: "many-{{ $i }}"}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: many}}}
{{- end }}
`;
/** Additions to the sample's chart that do not block its deletion; by kind, the number of objects before it. */
const ordinary: readonly { form: string; template: string; objects: Readonly<Record<string, number>> }[] = [
  {
    form: "five hundred objects",
    template: manyObjects,
    objects: { jobs: 190, configmaps: 57, serviceaccounts: 28, services: 28, replicasets: 28, statefulsets: 28 },
  },
  {
    form: "a claim that a pod uses",
    template: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: used}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: user}
spec:
  selector: {matchLabels: {app: user}}
  template:
    metadata: {labels: {app: user}}
    spec: ${podSpec("[/sample, backend]", "Always", {
      pod: "volumes: [{name: data, persistentVolumeClaim: {claimName: used}}],",
      container: "volumeMounts: [{name: data, mountPath: /data}],",
    })}
`,
    objects: { persistentvolumeclaims: 1 },
  },
  {
    form: "a Job that ends itself again and again",
    template: `
apiVersion: batch/v1
kind: Job
metadata: {name: brief}
spec: {ttlSecondsAfterFinished: 0, template: {spec: ${podSpec('[/sample, get, "http://backend/healthz"]', "Never")}}}
`,
    objects: { jobs: 1 },
  },
];

/** Registers a chart like the sample's with one more template, on a branch of its own. */
async function register(template: string): Promise<string> {
  const name = `e2e-held-${environments.mark}-${repositories.length}`;
  repositories.push(name);
  branches.push(name);
  await commitFile(name, "templates/held.yaml", template);
  const sample = await read<{ spec: object }>("erepo", "sample-backend", "--namespace=ephemeral-system");
  await apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "Repository",
    metadata: { name, namespace: "ephemeral-system" },
    spec: { ...sample.spec, chart: { repoUrl: chartRepository, path: ".", revision: name } },
  });
  return name;
}

async function make(name: string, repository: string): Promise<void> {
  const spec = { ttlHours: 1, backend: { repository, branch: "main" } };
  const metadata = { name };
  await apply({ apiVersion: "ephemeral-environments.dev/v1", kind: "EphemeralEnvironment", metadata, spec });
}

/** Maximum duration of a deletion, for any chart. */
const GONE_WITHIN_SECONDS = 150;

async function untilNothingIsLeft(name: string, uid: string): Promise<void> {
  await waitFor(["--for=delete", `eenv/${name}`], GONE_WITHIN_SECONDS);
  expect(await madeFor(uid)).toEqual([]);
  expect(await objectsNamed(name)).toEqual([]);
  expect(await list("pods", `--namespace=env-${name}`)).toEqual([]);
}

/** Argo CD learns of hooks after the deletion with a refresh, which may come after the environment is ready. */
async function untilArgoCdHolds(name: string, finalizer: string | undefined): Promise<void> {
  if (finalizer === undefined) return;
  const check = async () => {
    const place = `--namespace=${names.deployerNamespace}`;
    const { metadata } = await read<{ metadata: { finalizers?: string[] } }>("applications", `env-${name}`, place);
    return metadata.finalizers?.some((one) => one.startsWith(finalizer)) === true;
  };
  await waitUntil({ what: `the finalizer ${finalizer} of env-${name}`, check, deadlineMs: 90_000, pollMs: 500 });
}

// A foreign chart may block its environment's deletion without malice; reusing the name shows that all of the former one is
// gone.
test.concurrent.each(held)("$form holds no deletion, $times times under the same name", async (chart) => {
  const repository = await register(chart.template);
  const name = environments.name(`held-${held.indexOf(chart)}`);
  for (let time = 0; time < chart.times; time += 1) {
    await make(name, repository);
    const { metadata, status } = await untilReady(name);
    const url = status?.urls?.backend ?? "";
    expect((await open(url)).status).toBe(200);
    const { finalizer } = chart;
    if (finalizer !== undefined) {
      const patch = JSON.stringify({ metadata: { finalizers: [finalizer] } });
      await kubectl("patch", "configmap", "held", `--namespace=env-${name}`, "--type=merge", `--patch=${patch}`);
    }
    await untilArgoCdHolds(name, chart.applicationFinalizer);
    await kubectl("delete", "eenv", name, "--wait=false");
    const isSilent = async () => (await open(url).catch(() => undefined))?.status !== 200;
    await waitUntil({ what: `silence of ${url}`, check: isSilent, deadlineMs: 90_000, pollMs: 1_000 });
    await untilNothingIsLeft(name, metadata.uid);
    const { spec } = await read<{ spec: object }>("erec", metadata.uid, "--namespace=ephemeral-system");
    const removals = [{ kind: "ConfigMap", finalizer, names: ["held"], objects: 1 }];
    // Argo CD counts an existing hook as ended when its cache lacks it, and then ends by itself.
    if (chart.applicationFinalizer !== undefined) continue;
    expect(spec).toMatchObject({
      takenOver: expect.stringContaining("not deleted by the deployer"),
      ...(finalizer === undefined ? {} : { removals }),
    });
  }
});

// Readiness is not required: suspended Jobs are never ready.
test.concurrent.each(ordinary)("$form: deleted within 150 s", async (chart) => {
  const repository = await register(chart.template);
  const name = environments.name(`ended-${ordinary.indexOf(chart)}`);
  await make(name, repository);
  for (const [kind, atLeast] of Object.entries(chart.objects)) {
    const areThere = async () => (await list(kind, `--namespace=env-${name}`)).length >= atLeast;
    await waitUntil({ what: `${atLeast} ${kind}`, check: areThere, deadlineMs: 300_000, pollMs: 1_000 });
  }
  const { metadata } = await find(name);
  await kubectl("delete", "eenv", name, "--wait=false");
  await untilNothingIsLeft(name, metadata.uid);
});
