import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ControlPlane, startControlPlane } from "../../../deploy/local/control-plane.ts";
import { controlPlane } from "../../support/control-plane.ts";

const execute = promisify(execFile);

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
    const kinds = await kubectl(controlPlane(), "get", "crd", "-o", "name");
    expect(kinds).toContain("applications.argoproj.io");
    expect(kinds).toContain("appprojects.argoproj.io");
  });

  test("is another one than the shared one", async () => {
    expect(own.url).not.toBe(controlPlane().url);
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

  test("leaves no file behind when it is stopped", async () => {
    const stopped = await startControlPlane({ argoCd: false });
    await stopped.stop();
    expect(existsSync(dirname(stopped.kubeconfigPath))).toBe(false);
  }, 60_000);
});
