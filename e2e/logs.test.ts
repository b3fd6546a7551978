import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { chartUrl, commitFile, removeBranch } from "./support/chart-repository.ts";
import { Environments, untilRegistered } from "./support/environments.ts";
import { followLog } from "./support/events.ts";
import { apply, kubectl, read } from "./support/kubectl.ts";
import { podSecret } from "./support/secrets.ts";
import { names, TEST_DEADLINE_MS } from "./support/site.ts";
import { type Wait, waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const chart = await chartUrl();
const name = environments.name("logs");

afterAll(async () => {
  await environments.removeAll();
  await kubectl("delete", "erepo", name, "--namespace=ephemeral-system", "--ignore-not-found");
  await removeBranch(name);
});

/**
 * Containers beside the backend: one serves and logs it in JSON, one restarts repeatedly, one requests the first and prints
 * the raw answer, and one prints a secret whenever it crashes.
 */
const chatty = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: chatty, labels: {app.kubernetes.io/component: backend}}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: chatty}}
  template:
    metadata: {labels: {app.kubernetes.io/component: backend, app.kubernetes.io/name: chatty}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: server
          image: {{ .Values.backend.image | quote }}
          command: [/sample, frontend]
          readinessProbe: {tcpSocket: {port: 1}}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
        - name: restless
          image: {{ .Values.backend.image | quote }}
          command: [/sample, frontend]
          env: [{name: PORT, value: "8081"}]
          livenessProbe: {tcpSocket: {port: 1}, periodSeconds: 5, failureThreshold: 1}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
        - name: asker
          image: {{ .Values.backend.image | quote }}
          command: [/sample, get, "http://127.0.0.1:8080/healthz"]
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
        - name: leaky
          image: {{ .Values.backend.image | quote }}
          command: [/sample, get, "http://127.0.0.1:1/$(SECRET_KEY)"]
          envFrom: [{secretRef: {name: {{ .Values.secret.name | quote }}}}]
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`;

interface Logs {
  readonly component: string;
  readonly logs: readonly { readonly timestamp: string; readonly level: string; readonly message: string }[];
  readonly total_lines: number;
}

const logs = async (component: string, query = "") =>
  (await ask<Logs>("GET", `/environments/${name}/logs/${component}${query}`)).body;

const until = (check: Wait["check"], what: () => unknown) =>
  waitUntil({
    what: () => `what was waited for, after ${JSON.stringify(what())},`,
    check,
    deadlineMs: 120_000,
    pollMs: 2000,
  });

test("a developer reads the logs of all containers, restarted ones included, and follows new lines", async () => {
  await commitFile(name, "templates/chatty.yaml", chatty);
  const sample = await read<{ spec: object }>("erepo", "sample-backend", "--namespace=ephemeral-system");
  const spec = { ...sample.spec, chart: { repoUrl: chart, path: ".", revision: name } };
  const metadata = { name, namespace: "ephemeral-system" };
  await apply({ apiVersion: "ephemeral-environments.dev/v1", kind: "Repository", metadata, spec });
  await untilRegistered(name);
  const body = { environment_name: name, backend_repo: name, backend_branch: "main", ttl: 1 };
  expect((await ask("POST", "/environments", { body })).status).toBe(200);

  let said: Logs = { component: "", logs: [], total_lines: 0 };
  const isReported = () => {
    const messages = said.logs.map(({ message }) => message);
    const ended = messages.indexOf("stopped");
    // Lines after the end of a run belong to the next one.
    return messages.includes("200") && ended >= 0 && messages.indexOf("listening", ended) >= 0;
  };
  await until(
    async () => {
      said = await logs("backend", "?lines=1000&since=1h");
      return isReported();
    },
    () => said,
  );
  expect(said.total_lines).toBe(said.logs.length);
  const times = said.logs.map(({ timestamp }) => Date.parse(timestamp));
  expect(Math.max(...times) - Math.min(...times)).toBeLessThan(3_600_000);
  expect(said.logs).toContainEqual({ timestamp: expect.any(String), level: "INFO", message: "listening" });
  expect(said.logs).toContainEqual({
    timestamp: expect.any(String),
    level: "ERROR",
    message: expect.stringContaining("http://127.0.0.1:1/***"),
  });
  const values = Object.values(await podSecret(name));
  expect(values.filter((value) => JSON.stringify(said).includes(value))).toEqual([]);
  expect((await logs("backend", "?lines=1")).total_lines).toBe(1);

  await expectSyncTold();
  expect((await ask("GET", `/environments/${name}/logs/frontend`)).status).toBe(404);

  await expectFollowed();
});

interface Application {
  readonly status: { readonly operationState: { readonly syncResult: { readonly resources: readonly Synced[] } } };
}
interface Synced {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
}

/** Expects a line for each object of the last sync, which covers all objects, or those that Argo CD repaired later. */
async function expectSyncTold(): Promise<void> {
  let seen: { readonly expected: readonly string[]; readonly reported: readonly string[] } = {
    expected: [],
    reported: [],
  };
  const isReported = async () => {
    const { status } = await read<Application>("application", `env-${name}`, `--namespace=${names.deployerNamespace}`);
    const expected = status.operationState.syncResult.resources.map((one) => `${one.kind} '${one.name}' ${one.status}`);
    seen = { expected, reported: (await logs("argocd")).logs.map(({ message }) => message) };
    return expected.length > 0 && expected.every((line) => seen.reported.some((message) => message.startsWith(line)));
  };
  await until(isReported, () => seen);
}

async function expectFollowed(): Promise<void> {
  const followed = await followLog(name, "backend");
  expect(followed.status).toBe(200);
  await until(
    () => followed.messages.includes("listening"),
    () => followed.messages,
  );
  const count = followed.messages.filter((message) => message === "listening").length;
  await kubectl("delete", "pod", `--namespace=env-${name}`, "--selector=app.kubernetes.io/name=chatty", "--now");
  await until(
    () => followed.messages.filter((message) => message === "listening").length > count,
    () => followed.messages,
  );
  followed.leave();
}

test("a developer checks the URLs of an environment, whether it serves or not", async () => {
  const own = environments.name("urls");
  const body = { environment_name: own, backend_repo: "sample-backend", backend_branch: "main", ttl: 1 };
  expect((await ask("POST", "/environments", { body })).status).toBe(200);
  const seen: unknown[] = [];
  await until(
    async () => {
      const reply = await ask<{ status: string }>("GET", `/environments/${own}/check-all-urls`);
      expect(reply.status).toBe(200);
      seen.push(reply.body);
      return reply.body.status === "healthy";
    },
    () => seen.at(-1),
  );
  expect(seen.at(-1)).toMatchObject({
    details: {
      backend: {
        url: `https://${own}--api.env.localhost:18443`,
        status: "healthy",
        response_time_ms: expect.any(Number),
      },
    },
  });
});
