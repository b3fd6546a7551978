import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { recordedProcesses } from "../../../deploy/local/processes/process.ts";
import { type Listener, listeners } from "../../../e2e/support/listeners.ts";
import { knockAsNobody } from "../../../e2e/support/stranger.ts";
import { until } from "../../support/fixtures/until.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { type ControlPlane, startControlPlane } from "../../support/plane/own-control-plane.ts";

const execute = promisify(execFile);

const shared = await controlPlane();

describe("the control plane that tests run on", () => {
  let own: ControlPlane;

  beforeAll(async () => {
    own = await startControlPlane({ argoCd: false });
  }, 180_000);

  afterAll(() => own.stop());

  async function kubectl(plane: { kubectl: string; kubeconfigPath: string }, ...args: string[]): Promise<string> {
    const { stdout } = await execute(plane.kubectl, ["--kubeconfig", plane.kubeconfigPath, ...args]);
    return stdout.trim();
  }

  test("serves Argo CD's kinds in the shared one", async () => {
    const kinds = await kubectl(shared, "get", "crd", "-o", "name");
    expect(kinds).toContain("applications.argoproj.io");
    expect(kinds).toContain("appprojects.argoproj.io");
  });

  test("is another one than the shared one", async () => {
    expect(own.url).not.toBe(shared.url);
    expect(await kubectl(own, "get", "crd", "-o", "name")).toBe("");
  });

  test("keeps its objects and its address when etcd and the API server are killed and started again", async () => {
    await kubectl(own, "create", "namespace", "kept");
    await own.restart("etcd");
    await own.restart("kube-apiserver");
    expect(await kubectl(own, "get", "namespace", "kept", "-o", "name")).toBe("namespace/kept");
  }, 60_000);

  test("finishes the deletion of a namespace", async () => {
    await kubectl(own, "create", "namespace", "deleted");
    await kubectl(own, "delete", "namespace", "deleted", "--timeout", "120s");
    expect(await kubectl(own, "get", "namespace", "deleted", "--ignore-not-found", "-o", "name")).toBe("");
  }, 180_000);

  test("has its controllers again after a restart that failed", async () => {
    const controllers = async () =>
      (await recordedProcesses(dirname(own.kubeconfigPath))).find(({ name }) => name === "kube-controller-manager")
        ?.pid;
    const former = await controllers();
    await own.kill("kube-apiserver");
    const inVain = own.restart("kube-controller-manager").catch((error: Error) => error);
    const isAnother = async () => ![undefined, former].includes(await controllers());
    await until(isAnother, { what: "a start of the controllers" });
    await own.restart("kube-apiserver");
    expect(await inVain).toBeInstanceOf(Error);
    await kubectl(own, "create", "namespace", "after-failure");
    await kubectl(own, "delete", "namespace", "after-failure", "--timeout", "60s");
  }, 180_000);

  describe("abuse case 92: what another user of the machine reaches of it", () => {
    async function ownListeners(): Promise<readonly Listener[]> {
      const pids = (await recordedProcesses(dirname(own.kubeconfigPath))).map(({ pid }) => pid);
      return (await listeners()).filter(({ pid }) => pids.includes(pid));
    }

    test("is the API server's port; all the rest listens where only their owner may go", async () => {
      const all = await ownListeners();
      const ports = all.filter(({ kind }) => kind !== "unix").map(({ at }) => at);
      expect(ports).toEqual([new URL(own.url).host]);
      const sockets = all.filter(({ kind }) => kind === "unix").map(({ at }) => at);
      expect(sockets).toContain(own.etcdSocket);
      for (const socket of sockets) expect((await stat(dirname(socket))).mode & 0o077).toBe(0);
    });

    const asRoot = process.getuid?.() === 0 ? test : test.skip;
    asRoot("is refused to him", async () => {
      const { hostname: host, port } = new URL(own.url);
      const secrets = "GET /api/v1/secrets HTTP/1.1\r\nHost: kubernetes\r\n\r\n";
      const answers = await knockAsNobody([
        { at: { path: own.etcdSocket } },
        { at: { host, port: Number(port) }, tls: true, say: secrets },
      ]);
      expect(answers).toEqual(["EACCES", "HTTP/1.1 403 Forbidden"]);
    });
  });

  test("answers in JSON past the API server only on request", async () => {
    const question = { socketPath: own.etcdSocket, path: "/v3/kv/range", method: "POST" };
    const [answer] = (await once(request(question).end("{}"), "response")) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(404);
  });

  test("leaves no file behind when it is stopped", async () => {
    const stopped = await startControlPlane({ argoCd: false });
    await stopped.stop();
    expect(existsSync(dirname(stopped.kubeconfigPath))).toBe(false);
  }, 60_000);
});
