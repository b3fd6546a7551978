/**
 * Provisions a folder of this machine for every claim of the storage class `local`, and removes it with the claim. Usage:
 * provision-volumes.ts API_SERVER CA_FILE CERTIFICATE KEY FOLDER
 */
import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { apiClient } from "./api-client.ts";
import { storageClass, type VolumeClaim, volumeObject } from "./volumes.ts";

const LOOK_EVERY_MS = 250;
const VOLUMES = "/api/v1/persistentvolumes";

const [url = "", caFile = "", certificate = "", key = "", folder = ""] = process.argv.slice(2);
const client = apiClient({ url, caFile, clientCertificate: { certificate, key } });

for (;;) {
  // The API server may be away for a while.
  await serve().catch((error: unknown) => console.error(new Date().toISOString(), error));
  await pause(LOOK_EVERY_MS);
}

async function serve(): Promise<void> {
  const claims = await list<VolumeClaim>("/api/v1/persistentvolumeclaims");
  const isOpen = ({ spec, status }: VolumeClaim) =>
    spec.storageClassName === storageClass.metadata.name && status?.phase === "Pending";
  for (const claim of claims.filter(isOpen)) await provide(claim);
  const volumes = await list<Volume>(VOLUMES);
  const isOver = ({ spec, status }: Volume) =>
    spec.storageClassName === storageClass.metadata.name && status?.phase === "Released";
  for (const volume of volumes.filter(isOver)) await remove(volume);
}

interface Volume {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly storageClassName?: string; readonly hostPath?: { readonly path: string } };
  readonly status?: { readonly phase?: string };
}

async function list<T>(path: string): Promise<readonly T[]> {
  return ((await client.find(path)) as { items: T[] }).items;
}

/** The pods' user is unknown, and the kubelet changes no owner of such folders: every user may write there. */
async function provide(claim: VolumeClaim): Promise<void> {
  const path = join(folder, claim.metadata.uid);
  await mkdir(path, { recursive: true });
  await chmod(path, 0o777);
  const { status, body } = await client.call("POST", VOLUMES, volumeObject(claim, path));
  // 409: the previous check made the volume, and the claim is about to be bound to it.
  if (status !== 201 && status !== 409) throw new Error(`a volume was refused with ${status}: ${body.slice(0, 500)}`);
}

async function remove({ metadata: { name }, spec: { hostPath } }: Volume): Promise<void> {
  if (hostPath?.path.startsWith(`${folder}/`)) await rm(hostPath.path, { recursive: true, force: true });
  await client.call("DELETE", `${VOLUMES}/${name}`);
}
