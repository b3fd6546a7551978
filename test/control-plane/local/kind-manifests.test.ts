import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sourceOf } from "../../../deploy/local/builds/build.ts";
import { argoCd, installArgoCd } from "../../../deploy/local/kind/argo-cd.ts";
import { installIngress } from "../../../deploy/local/kind/ingress.ts";
import { type ClusterUser, kubectl } from "../../../deploy/local/kubernetes/kubectl.ts";
import { certificateAuthority } from "../../../deploy/local/kubernetes/pki.ts";
import { type ControlPlane, startControlPlane } from "../../support/plane/own-control-plane.ts";

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../../..");

describe("what a kind cluster is given", () => {
  let plane: ControlPlane;
  let folder: string;
  let administrator: ClusterUser;

  beforeAll(async () => {
    plane = await startControlPlane({ argoCd: false });
    folder = await mkdtemp(join(tmpdir(), "kind-manifests-"));
    administrator = { kubectl: await withoutRollouts(), kubeconfig: plane.kubeconfigPath };
  }, 180_000);

  afterAll(async () => {
    await plane.stop();
    await rm(folder, { recursive: true });
  }, 60_000);

  /** The real kubectl, which does not wait for pods: there is no node. */
  async function withoutRollouts(): Promise<string> {
    const file = join(folder, "kubectl");
    const script = `#!/bin/sh\n[ "$1" = rollout ] || exec '${plane.kubectl}' "$@"\n`;
    await writeFile(file, script, { mode: 0o755 });
    return file;
  }

  const read = (...args: string[]) => kubectl(administrator, ["get", ...args]);

  test("Argo CD, as it is pinned, is taken by the API server, with what the platform looks for", async () => {
    const modules = join(checkout, "deploy/local/programs/kubernetes");
    const source = await sourceOf("github.com/argoproj/argo-cd/v3", modules);
    await installArgoCd(administrator, async (url) => {
      expect(url).toBe(argoCd.url);
      return readFile(join(source, "manifests/core-install.yaml"), "utf8");
    });
    const required = ["crd/applications.argoproj.io", "crd/appprojects.argoproj.io"];
    expect(await read(...required, "--output=name")).toMatch(/applications.*appprojects/s);
    expect(await read("serviceaccount", "argocd-application-controller", "--namespace=argocd", "--output=name")).toBe(
      "serviceaccount/argocd-application-controller\n",
    );
  }, 60_000);

  test("the ingress is taken by the API server, has the certificate, and runs under Pod Security restricted", async () => {
    const ca = await certificateAuthority(join(folder, "pki"));
    const address = await installIngress(administrator, ca);
    expect(address).toMatch(/^10\.\d+\.\d+\.\d+:443$/);
    expect(await read("ingressclass", "traefik", "--output=name")).toContain("traefik");
    const encoded = await read("secret", "wildcard", "--namespace=traefik", "--output=jsonpath={.data.tls\\.crt}");
    expect(Buffer.from(encoded, "base64").toString()).toBe(await readFile(join(folder, "pki/ingress.crt"), "utf8"));
    const template = JSON.parse(await read("deployment", "traefik", "--namespace=traefik", "--output=json")).spec
      .template;
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "any", namespace: "traefik" }, spec: template.spec };
    const file = join(folder, "pod.json");
    await writeFile(file, JSON.stringify(pod));
    const env = { ...process.env, KUBECONFIG: plane.kubeconfigPath };
    const { stdout } = await execute(plane.kubectl, ["create", "--dry-run=server", `--filename=${file}`], { env });
    expect(stdout).toContain("pod/any created");
  }, 60_000);
});
