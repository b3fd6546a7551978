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
const chart = await chartUrl();

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
          args: [backend]
          env: [{name: PORT, value: "8080"}]
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`;
const configMap = (metadata: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: held, ${metadata}}
`;
/** Everything that the quota of objects has room for. */
const manyObjects = `
{{- range $index := until 60 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: many-{{ $index }}, finalizers: [example.test/hold]}
{{- end }}
`;

/** What a chart has beside the sample, and what the record then says of its deletion. */
const held: readonly { form: string; template: string; record: object }[] = [
  {
    form: "an object that is deleted only when somebody confirms",
    template: configMap('annotations: {argocd.argoproj.io/sync-options: "Delete=confirm"}'),
    record: { takenOver: expect.stringContaining("not deleted by the deployer") },
  },
  {
    form: "a hook before the deletion that never ends",
    template: endlessJob("helm.sh/hook: pre-delete"),
    record: { takenOver: expect.stringContaining("not deleted by the deployer") },
  },
  {
    form: "a hook after the deletion that never ends",
    template: endlessJob("argocd.argoproj.io/hook: PostDelete"),
    record: { takenOver: expect.stringContaining("not deleted by the deployer") },
  },
  {
    form: "sixty objects with somebody's finalizer",
    template: manyObjects,
    record: { removals: [{ kind: "ConfigMap", finalizer: "example.test/hold", objects: 60 }] },
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
    spec: { ...sample.spec, chart: { repoUrl: chart, path: ".", revision: name } },
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
test.concurrent.each(held)("$form holds no deletion, twice under the same name", async ({ form, template, record }) => {
  const repository = await register(template);
  const name = environments.name(`held-${held.findIndex((one) => one.form === form)}`);
  for (const _time of [1, 2]) {
    const { metadata, status } = await made(name, repository);
    const url = status?.urls?.backend ?? "";
    expect((await open(url)).status).toBe(200);
    await kubectl("delete", "eenv", name, "--wait=false");
    const isSilent = async () => (await open(url).catch(() => undefined))?.status !== 200;
    await waitUntil({ what: `silence of ${url}`, check: isSilent, deadlineMs: 180_000, pollMs: 1_000 });
    await waitFor(["--for=delete", `eenv/${name}`], 300);
    expect(await madeFor(metadata.uid)).toEqual([]);
    expect(await objectsNamed(name)).toEqual([]);
    expect(await list("pods", `--namespace=env-${name}`)).toEqual([]);
    const kept = await read<{ spec: object }>("erec", metadata.uid, "--namespace=ephemeral-system");
    expect(kept.spec).toMatchObject(record);
  }
});
