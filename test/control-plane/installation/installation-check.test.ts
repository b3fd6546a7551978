import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { operatorBundle } from "../../../deploy/bundle/operator-bundle.ts";
import { notificationType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { checkInstallation } from "../../../operator/installation/check-installation.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { argoCd } from "../../support/plane/chart/argocd-objects.ts";
import { environmentObject, given, paths } from "../../support/plane/chart/environment-objects.ts";
import { changedDefinition, schemaAt } from "../../support/plane/chart/older-definition.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";

const execute = promisify(execFile);
const plane = await controlPlane();
const platform = callsAs(plane, { token: plane.platform.token });
const main = await operatorBundle();
const bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const wellDone = ["ok    the kinds are served", "ok    the rights are sufficient", "ok    the policies are in force"];

async function report(token: string, seconds: number): Promise<{ ok: boolean; lines: string[] }> {
  const lines: string[] = [];
  const ok = await checkInstallation({
    settings: settingsFrom(testSettings),
    kubeConfig: kubeConfigOf(plane, token),
    signal: new AbortController().signal,
    print: (line) => void lines.push(line),
    deadlineMs: seconds * 1000,
  });
  return { ok, lines };
}

let folder: string;
let settingsFile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "installation-check-"));
  settingsFile = join(folder, "settings.yaml");
  await writeFile(settingsFile, JSON.stringify(testSettings));
});

afterAll(() => rm(folder, { recursive: true }));

/** The end of the program's call; `code` only after a failure. */
interface Ended {
  readonly code?: number;
  readonly stdout: string;
}

function called(command: string, ...args: string[]): Promise<Ended> {
  const env = { PATH: process.env.PATH, KUBECONFIG: plane.platform.kubeconfigPath };
  return execute(process.execPath, [main, command, "--settings", settingsFile, ...args], { env });
}

describe("check-installation", () => {
  test("finds nothing wrong with what the chart installs, and leaves nothing behind", async () => {
    expect(await report(plane.platform.token, 10)).toEqual({ ok: true, lines: wellDone });
    const found = await administrator(plane).get("/api/v1/namespaces/installation-check");
    expect(found.status).toBe(404);
  }, 60_000);

  test("is a command of the platform's own program, which also asks the REST interface", async () => {
    const server = createServer((_, reply) => void reply.end('{"status":"healthy"}')).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { stdout } = await called("check-installation", "--api-url", `http://127.0.0.1:${port}`).finally(() =>
      server.close(),
    );
    expect(stdout.trim().split("\n")).toEqual([...wellDone, "ok    the REST interface answers"]);
  }, 60_000);

  test("says how it is called where that is wrong", async () => {
    const env = { PATH: process.env.PATH };
    const wrong = execute(process.execPath, [main, "check", "--settings", settingsFile], { env });
    await expect(wrong).rejects.toMatchObject({ code: 2, stdout: expect.stringContaining("check-installation") });
  });

  test("names what a definition lacks that this program knows", async () => {
    const restore = await changedDefinition(plane, notificationType, (schema) => {
      delete schemaAt(schema, "status").properties.attempts;
      delete schemaAt(schema, "status").properties.message;
    });
    const isNoticed = async () => !(await report(plane.platform.token, 0)).ok;
    await until(isNoticed, { what: "the older definition to be described" });
    const { lines } = await report(plane.platform.token, 0);
    await restore();
    expect(lines).toEqual([
      "FAIL  the kinds are served",
      "      the definition notifications.ephemeral-environments.dev lacks status.attempts (and 1 more), so it is older than this program: upgrade the chart, which brings the definitions",
      ...wellDone.slice(1),
    ]);
    expect(await report(plane.platform.token, 10)).toEqual({ ok: true, lines: wellDone });
  }, 60_000);

  test("names every kind that is not served", async () => {
    const definition =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/notifications.ephemeral-environments.dev";
    const { object } = await administrator(plane).get(definition);
    const { versions } = (object as { spec: { versions: { served: boolean }[] } }).spec;
    await administrator(plane).patch(definition, {
      spec: { versions: versions.map((one) => ({ ...one, served: false })) },
    });
    const isNoticed = async () => !(await report(plane.platform.token, 0)).ok;
    await until(isNoticed, { what: "notifications to be served no more" });
    const { lines } = await report(plane.platform.token, 2);
    await administrator(plane).patch(definition, { spec: { versions } });
    expect(lines.slice(0, 2)).toEqual([
      "FAIL  the kinds are served",
      expect.stringContaining("does not serve notifications.ephemeral-environments.dev: look at kubectl describe crd"),
    ]);
  }, 60_000);

  test("names the policy that is not in force, and what it can't try", async () => {
    const binding = `${bindings}/platform-namespaces.ephemeral-environments.dev`;
    const { object } = await administrator(plane).get(binding);
    await administrator(plane).delete(binding);
    const anyNamespace = { metadata: { name: "any" } };
    const isLifted = async () => (await platform.create(`${paths.namespaces}?dryRun=All`, anyNamespace)).status === 201;
    await until(isLifted, { what: "the policy to hold no more" });
    const { ok, lines } = await report(plane.platform.token, 2);
    const { spec, metadata } = object as { spec: object; metadata: { name: string; labels: object } };
    const { name, labels } = metadata;
    await administrator(plane).create(bindings, { metadata: { name, labels }, spec });
    await until(async () => !(await isLifted()), { what: "the policy to hold again" });
    expect(ok).toBe(false);
    expect(lines).toEqual([
      ...wellDone.slice(0, 2),
      "FAIL  the policies are in force",
      expect.stringMatching(/^ {6}the policy platform-namespaces\.ephemeral-environments\.dev does not refuse/),
    ]);
  }, 60_000);

  test.each([
    ["is not bound", "environment-claims", undefined],
    ["only warns", "environment-pods", { validationActions: ["Warn"] }],
  ])(
    "names a policy on others that %s",
    async (_, policy, change) => {
      const name = `${policy}.ephemeral-environments.dev`;
      const path = `${bindings}/${name}`;
      const { object } = await administrator(plane).get(path);
      const { spec, metadata } = object as { spec: object; metadata: { labels: object } };
      if (change === undefined) await administrator(plane).delete(path);
      else await administrator(plane).patch(path, { spec: change });
      const { lines } = await report(plane.platform.token, 0);
      const restored =
        change === undefined
          ? await administrator(plane).create(bindings, { metadata: { name, labels: metadata.labels }, spec })
          : await administrator(plane).patch(path, { spec });
      expect(restored.message).toBe("");
      expect(lines).toEqual([
        ...wellDone.slice(0, 2),
        "FAIL  the policies are in force",
        expect.stringContaining(`      the policy ${name} is not in force: `),
      ]);
    },
    60_000,
  );

  test("names every right that is missing", async () => {
    const roleBindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/argocd/rolebindings";
    await administrator(plane).delete(`${roleBindings}/ephemeral-platform`);
    const isTaken = async () => (await platform.get(argoCd.projects)).status === 403;
    await until(isTaken, { what: "the rights to be gone" });
    const { lines } = await report(plane.platform.token, 2);
    expect(lines).toContain("FAIL  the rights are sufficient");
    const missing = lines.filter((line) => line.startsWith("      the platform may not"));
    expect(missing).toHaveLength(15);
    expect(missing).toContain(
      "      the platform may not watch appprojects.argoproj.io in the namespace argocd: install the chart's roles and bindings again",
    );
    // The missing right refuses before a policy would.
    expect(lines.filter((line) => line.includes("can't be tried"))).toHaveLength(4);
  }, 60_000);

  test("reports checks that can't be made", async () => {
    const { ok, lines } = await report("unknown", 0);
    expect(ok).toBe(false);
    expect(lines.slice(0, 2)).toEqual(["FAIL  the kinds are served", expect.stringContaining("this can't be told: ")]);
  });
});

describe("check-removal", () => {
  test("is content where no environment is left", async () => {
    const { stdout } = await called("check-removal");
    expect(stdout).toBe("ok    no environment is left\n");
  }, 60_000);

  test("names the environments that would be left without an operator, and counts those beyond ten", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `left-${String(index).padStart(2, "0")}`);
    for (const name of names) await given(administrator(plane), paths.environments, environmentObject(name));
    const { code, stdout } = (await called("check-removal").catch((error: object) => error)) as Ended;
    for (const name of names) await administrator(plane).delete(`${paths.environments}/${name}`);
    expect(code).toBe(1);
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      "FAIL  no environment is left",
      expect.stringMatching(`^ {6}${names.slice(0, 10).join(", ")} and 2 more: .*kubectl delete eenv --all`),
    ]);
  }, 60_000);
});
