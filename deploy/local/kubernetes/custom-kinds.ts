import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BuiltModule } from "../builds/build.ts";
import { waitUntil } from "../processes/wait.ts";
import { type ApiClient, parseManifests } from "./api-client.ts";

/** Makes Argo CD's kinds Application and AppProject known and waits until they are served. */
export async function applyArgoCdKinds(client: ApiClient, { files }: BuiltModule): Promise<void> {
  await Promise.all(
    ["application", "appproject"].map((kind) => applyKind(client, join(files, `manifests/crds/${kind}-crd.yaml`))),
  );
}

async function applyKind(client: ApiClient, file: string): Promise<void> {
  const [crd] = parseManifests(await readFile(file, "utf8"));
  if (!crd) throw new Error(`${file} holds no manifest`);
  await client.apply(crd);
  const [plural, ...group] = crd.metadata.name.split(".");
  const served = `/apis/${group.join(".")}/v1alpha1/${plural}?limit=1`;
  const check = async () => (await client.call("GET", served)).status === 200;
  await waitUntil({ what: `the kind ${crd.metadata.name} to be served`, check, deadlineMs: 20_000 });
}
