import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Container, startContainer } from "../../../deploy/image/container.ts";
import { freePorts } from "../fixtures/free-ports.ts";
import type { LeasedPlane } from "../plane/control-plane.ts";

/** A container of the image that finds an API server as a pod does. */
export interface ImagePod extends Container {
  readonly api: string;
  readonly probes: string;
}

/**
 * Runs the root file system on this machine's network with a kubelet's inputs: the token of the platform's ServiceAccount,
 * the API server's address, and the settings at the chart's place.
 */
export async function startImagePod(
  { root, settings, env }: { root: string; settings: object; env?: Readonly<Record<string, string>> },
  plane: LeasedPlane,
): Promise<ImagePod> {
  const folder = await mkdtemp(join(tmpdir(), "image-pod-"));
  const [apiPort = 0, probesPort = 0] = await freePorts(2);
  const account = join(folder, "account");
  const config = join(folder, "settings");
  for (const each of [account, config]) await mkdir(each);
  await copyFile(plane.caFile, join(account, "ca.crt"));
  await writeFile(join(account, "token"), plane.platform.token);
  const given = { ...settings, api: { port: apiPort }, probes: { port: probesPort } };
  await writeFile(join(config, "settings.yaml"), stringify(given));
  for (const path of [folder, account, config]) await chmod(path, 0o755);
  for (const path of [join(account, "ca.crt"), join(account, "token"), join(config, "settings.yaml")])
    await chmod(path, 0o644);
  const { hostname, port } = new URL(plane.url);
  const container = await startContainer({
    root,
    hostNetwork: true,
    args: ["--settings", "/etc/ephemeral-environments/settings.yaml"],
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, ...env },
    folders: {
      "/etc/ephemeral-environments": config,
      "/var/run/secrets/kubernetes.io/serviceaccount": account,
    },
  });
  return {
    ...container,
    get output() {
      return container.output;
    },
    api: `http://127.0.0.1:${apiPort}`,
    probes: `http://127.0.0.1:${probesPort}`,
    async stop() {
      await container.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
