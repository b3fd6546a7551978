import { afterAll, expect, jest, test } from "@jest/globals";
import { chartUrl, commitFile, removeBranch } from "./support/chart-repository.ts";
import { Environments, find, untilReady } from "./support/environments.ts";
import { apply, kubectl, read, waitFor } from "./support/kubectl.ts";
import { podSecret } from "./support/secrets.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const repositories: string[] = [];
const branches: string[] = [];
// Concurrent tests, because each mostly waits; Jest starts such tests before any hook.
const chart = await chartUrl();

afterAll(async () => {
  await environments.removeAll();
  for (const name of repositories) await kubectl("delete", "erepo", name, "--namespace=ephemeral-system");
  for (const branch of branches) await removeBranch(branch);
});

/** Requests a page named like a secret from a missing server, and prints that. */
const leaky = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: leaky, labels: {app.kubernetes.io/component: leaky}}
spec:
  selector: {matchLabels: {app.kubernetes.io/component: leaky}}
  template:
    metadata: {labels: {app.kubernetes.io/component: leaky}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: leaky
          image: {{ .Values.backend.image | quote }}
          command: [/sample, get, "http://127.0.0.1:1/$(SECRET_KEY)"]
          envFrom: [{secretRef: {name: {{ .Values.secret.name | quote }}}}]
          readinessProbe: {tcpSocket: {port: 1}}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`;

interface Source {
  readonly repository?: string;
  readonly overrides?: object;
}

const manifest = (name: string, { repository = "sample-backend", overrides }: Source) => ({
  apiVersion: "ephemeral-environments.dev/v1",
  kind: "EphemeralEnvironment",
  metadata: { name },
  spec: {
    ttlHours: 1,
    backend: { repository, branch: "main" },
    ...(overrides === undefined ? {} : { overrides: { backend: overrides } }),
  },
});

const failing = (how: string) => ({ env: [{ name: "SAMPLE_FAIL", value: how }] });

async function register(name: string, change: object): Promise<void> {
  const sample = await read<{ spec: object }>("erepo", "sample-backend", "--namespace=ephemeral-system");
  if (!repositories.includes(name)) repositories.push(name);
  const metadata = { name, namespace: "ephemeral-system" };
  const object = { apiVersion: "ephemeral-environments.dev/v1", kind: "Repository", metadata };
  await apply({ ...object, spec: { ...sample.spec, ...change } });
}

/** Waits until the condition has the reason, and answers its message; a failure shows all conditions. */
async function expectReason(name: string, reason: string, status = "False", seconds = 150): Promise<string> {
  const path = `{.status.conditions[?(@.type=="ApplicationSynced")].reason}`;
  await waitFor([`--for=jsonpath=${path}=${reason}`, `eenv/${name}`], seconds).catch(async (cause) => {
    throw new Error(`it is ${JSON.stringify((await find(name)).status?.conditions)}`, { cause });
  });
  const reported = await synced(name);
  expect(reported).toMatchObject({ status, message: expect.any(String) });
  expect((await find(name)).status?.phase).toBe(status === "False" ? "failed" : "creating");
  return reported?.message ?? "";
}

const synced = async (name: string) =>
  (await find(name)).status?.conditions?.find(({ type }) => type === "ApplicationSynced");

/**
 * Waits for a container's last lines in the condition. During a restart the kubelet may have no log; a later check finds
 * them.
 */
async function untilReported(name: string, words: string): Promise<void> {
  const check = async () => (await synced(name))?.message.includes(words) === true;
  await waitUntil({ what: `'${words}' in the condition`, check, deadlineMs: 150_000, pollMs: 500 });
}

test.concurrent("an image that can't be pulled shows in the conditions; once the Repository names another one, the environment becomes ready", async () => {
  const name = environments.name("image");
  await register(name, { image: { repository: "docker.io/local/absent" } });
  await apply(manifest(name, { repository: name }));
  const message = await expectReason(name, "ImagePullFailed");
  expect(message).toMatch(/^backend: image 'docker.io\/local\/absent:[0-9a-f]{40}' can't be pulled/);
  await register(name, {});
  await untilReady(name);
});

test.concurrent("a crash loop shows with the container's last lines; without its cause the environment becomes ready", async () => {
  const name = environments.name("crash");
  await apply(manifest(name, { overrides: failing("crash") }));
  const message = await expectReason(name, "CrashLoop");
  expect(message).toMatch(/^backend: container 'backend' .* ends soon after every start \(exit code 1\)/);
  await untilReported(name, '"error":"SAMPLE_FAIL is crash"');
  await apply(manifest(name, { overrides: failing("no more") }));
  await untilReady(name);
});

test.concurrent("secrets that a container prints as it crashes do not reach the status", async () => {
  const name = environments.name("leak");
  branches.push(name);
  await commitFile(name, "templates/extra.yaml", leaky);
  await register(name, { chart: { repoUrl: chart, path: ".", revision: name } });
  await apply(manifest(name, { repository: name }));
  await expectReason(name, "CrashLoop");
  await untilReported(name, "http://127.0.0.1:1/***");
  const values = Object.values(await podSecret(name));
  const log = await kubectl("logs", `--namespace=env-${name}`, "--selector=app.kubernetes.io/component=leaky");
  expect(values.filter((value) => log.includes(value))).toHaveLength(1);
  const status = JSON.stringify((await find(name)).status);
  expect(values.filter((value) => status.includes(value))).toEqual([]);
});

test.concurrent("a failing probe shows while the rollout goes on, and is cleared once it passes", async () => {
  const name = environments.name("probe");
  await apply(manifest(name, { overrides: failing("unhealthy") }));
  const message = await expectReason(name, "ProbeFailing", "Unknown");
  expect(message).toMatch(/startup probe \(GET \/healthz on port http\) fails/);
  await apply(manifest(name, { overrides: failing("no more") }));
  await untilReady(name);
});

test.concurrent("an exceeded quota shows with its numbers; with smaller requests the environment becomes ready", async () => {
  const name = environments.name("quota");
  await apply(manifest(name, { overrides: { resources: { requests: { cpu: "100" } } } }));
  const message = await expectReason(name, "QuotaExceeded");
  expect(message).toMatch(/^backend: the environment's quota leaves no room/);
  expect(message).toContain("requested: requests.cpu=100");
  await apply(manifest(name, { overrides: { resources: { requests: { cpu: "50m" } } } }));
  await untilReady(name);
});

test.concurrent("a chart that does not render shows with Helm's error; once its branch is corrected the environment becomes ready", async () => {
  const name = environments.name("chart");
  branches.push(name);
  const broken = '{{ fail "this chart is broken on purpose" }}\n';
  await commitFile(name, "templates/extra.yaml", broken);
  await register(name, { chart: { repoUrl: chart, path: ".", revision: name } });
  await apply(manifest(name, { repository: name }));
  const message = await expectReason(name, "ChartInvalid");
  expect(message).toContain("this chart is broken on purpose");
  expect(message).not.toContain("/tmp/");
  await commitFile(name, "templates/extra.yaml", "# mended\n");
  await untilReady(name);
});

test.concurrent("a chart with a forbidden object shows; once its branch is corrected the environment becomes ready", async () => {
  const name = environments.name("sync");
  branches.push(name);
  const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: smuggled}\n";
  await commitFile(name, "templates/extra.yaml", secret);
  await register(name, { chart: { repoUrl: chart, path: ".", revision: name } });
  await apply(manifest(name, { repository: name }));
  const message = await expectReason(name, "SyncFailed");
  expect(message).toContain("Secret/smuggled");
  await commitFile(name, "templates/extra.yaml", "# mended\n");
  await untilReady(name);
});
