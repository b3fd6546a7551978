import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { storageClass } from "../kubernetes/volumes.ts";
import { keepRunning } from "../processes/process.ts";
import type { BuiltComponent } from "./component.ts";

/** Provisions folders of this machine as volumes. */
export const storageComponent: BuiltComponent = {
  name: "storage",
  after: ["access rules"],
  async start(site) {
    await site.client.apply(storageClass);
    const volumes = join(site.folder, "volumes");
    await mkdir(volumes, { recursive: true });
    const { certificate, key } = await site.ca.issue("storage-client", { commonName: "local:storage" });
    const script = join(import.meta.dirname, "../kubernetes/provision-volumes.ts");
    const args = [script, site.access.url, site.access.caFile, certificate, key, volumes];
    await keepRunning(site.folder, { name: "storage", command: process.execPath, args }, () => true);
  },
};
