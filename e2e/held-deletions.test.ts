import { afterAll, expect, jest, test } from "@jest/globals";
import { chartUrl, commitFile, removeBranch } from "./support/chart-repository.ts";
import { Environments, madeFor, objectsNamed, untilReady } from "./support/environments.ts";
import { apply, kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { waitUntil } from "./support/wait.ts";

/** Two environments one after the other, each of which the platform takes over after a minute. */
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

/** A Job whose pod serves for ever. */
const endlessJob = (annotation: string) => `
apiVersion: batch/v1
kind: Job
metadata: {name: endless, annotations: {${annotation}}}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: endless
          image: {{ .Values.backend.image | quote }}
          command: [/sample, backend]
          env: [{name: PORT, value: "8080"}]
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`;
const configMap = (metadata: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: held, ${metadata}}
`;
/** What a chart has beside the sample, or what somebody does to it, and how often it is tried. */
const held: readonly { form: string; template: string; finalizer?: string; times: number }[] = [
  {
    form: "an object that is deleted only when somebody confirms",
    template: configMap('annotations: {argocd.argoproj.io/sync-options: "Delete=confirm"}'),
    times: 2,
  },
  { form: "a hook before the deletion that never ends", template: endlessJob("helm.sh/hook: pre-delete"), times: 2 },
  {
    form: "a hook after the deletion that never ends",
    template: endlessJob("argocd.argoproj.io/hook: PostDelete"),
    times: 2,
  },
  {
    form: "an object with the finalizer of a controller that is gone",
    ...{ template: configMap("labels: {}"), finalizer: "example.test/hold", times: 1 },
  },
];

/** The Repository of a chart like the sample's with one more template, on a branch of its own. */
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

async function made(name: string, repository: string) {
  const spec = { ttlHours: 1, backend: { repository, branch: "main" } };
  const metadata = { name };
  await apply({ apiVersion: "ephemeral-environments.dev/v1", kind: "EphemeralEnvironment", metadata, spec });
  return untilReady(name);
}

// A chart of somebody else may hold its environment without malice; under the name of the one before, because that was all of it.
test.concurrent.each(held)("$form holds no deletion, $times times under the same name", async (chart) => {
  const repository = await register(chart.template);
  const name = environments.name(`held-${held.indexOf(chart)}`);
  for (let time = 0; time < chart.times; time += 1) {
    const { metadata, status } = await made(name, repository);
    const url = status?.urls?.backend ?? "";
    expect((await open(url)).status).toBe(200);
    const { finalizer } = chart;
    if (finalizer !== undefined) {
      const patch = JSON.stringify({ metadata: { finalizers: [finalizer] } });
      await kubectl("patch", "configmap", "held", `--namespace=env-${name}`, "--type=merge", `--patch=${patch}`);
    }
    await kubectl("delete", "eenv", name, "--wait=false");
    const isSilent = async () => (await open(url).catch(() => undefined))?.status !== 200;
    await waitUntil({ what: `silence of ${url}`, check: isSilent, deadlineMs: 180_000, pollMs: 1_000 });
    await waitFor(["--for=delete", `eenv/${name}`], 300);
    expect(await madeFor(metadata.uid)).toEqual([]);
    expect(await objectsNamed(name)).toEqual([]);
    expect(await list("pods", `--namespace=env-${name}`)).toEqual([]);
    const { spec } = await read<{ spec: object }>("erec", metadata.uid, "--namespace=ephemeral-system");
    const removals = [{ kind: "ConfigMap", finalizer, names: ["held"], objects: 1 }];
    expect(spec).toMatchObject({
      takenOver: expect.stringContaining("not deleted by the deployer"),
      ...(finalizer === undefined ? {} : { removals }),
    });
  }
});
