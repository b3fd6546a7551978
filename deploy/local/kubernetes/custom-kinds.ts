import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { waitUntil } from "../../build/wait.ts";
import type { BuiltModule } from "../builds/build.ts";
import { type ApiClient, parseManifests } from "./api-client.ts";

/** Applies Argo CD's kinds Application and AppProject and waits until they are served. */
export async function applyArgoCdKinds(client: ApiClient, { files }: BuiltModule): Promise<void> {
  await Promise.all(
    ["application", "appproject"].map((kind) => applyKind(client, join(files, `manifests/crds/${kind}-crd.yaml`))),
  );
}

async function applyKind(client: ApiClient, file: string): Promise<void> {
  const [crd] = parseManifests(await readFile(file, "utf8"));
  if (!crd) throw new Error(`${file} holds no manifest`);
  await client.apply(crd);
  await untilServed(client, crd.metadata.name, "v1alpha1");
}

/** Waits until the kind of that definition (`repositories.ephemeral-environments.dev`) is served in a version. */
export async function untilServed(client: ApiClient, definition: string, version: string): Promise<void> {
  const [plural, ...group] = definition.split(".");
  const path = `/apis/${group.join(".")}/${version}/${plural}?limit=1`;
  const check = async () => (await client.call("GET", path)).status === 200;
  await waitUntil({ what: `the kind ${definition} to be served`, check, deadlineMs: 20_000 });
}
