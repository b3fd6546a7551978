import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { waitUntil } from "../../build/wait.ts";
import type { BuiltModule } from "../builds/build.ts";
import type { ApiClient } from "./api-client.ts";

/** Applies Argo CD's kinds Application and AppProject and waits until they are served. */
export async function applyArgoCdKinds(client: ApiClient, { files }: BuiltModule): Promise<void> {
  const apply = async (kind: string) => {
    const name = `${kind}s.argoproj.io`;
    const yaml = await readFile(join(files, `manifests/crds/${kind}-crd.yaml`), "utf8");
    await client.applyText({ kind: "CustomResourceDefinition", metadata: { name } }, yaml);
    await untilServed(client, name, "v1alpha1");
  };
  await Promise.all(["application", "appproject"].map(apply));
}

/** Waits until the kind of that definition (`repositories.ephemeral-environments.dev`) is served in a version. */
export async function untilServed(client: ApiClient, definition: string, version: string): Promise<void> {
  const [plural, ...group] = definition.split(".");
  const path = `/apis/${group.join(".")}/${version}/${plural}?limit=1`;
  const check = async () => (await client.call("GET", path)).status === 200;
  await waitUntil({ what: `the kind ${definition} to be served`, check, deadlineMs: 20_000 });
}
