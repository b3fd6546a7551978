/**
 * Publishes the signed image and charts of this checkout, and prints the published artifacts as lines of `name=value`.
 *
 * Usage: main.ts --registry HOST/PREFIX [--tag v0.1.0] [--key FILE]
 *
 * `--tag` must be the version of the checkout. Without `--key`, a file of `cosign generate-key-pair` (its password in
 * COSIGN_PASSWORD), the machine's provable identity signs. REGISTRY_USER and REGISTRY_PASSWORD log in. HELM is the helm to
 * use, so that none is built.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stateFolder } from "../build/folders.ts";
import { showProgress } from "../build/progress.ts";
import { buildImage } from "../image/image.ts";
import { releasePrograms } from "./programs.ts";
import { publish, releaseVersion } from "./publish.ts";

const { values } = parseArgs({
  options: { registry: { type: "string" }, tag: { type: "string" }, key: { type: "string" } },
});
const { REGISTRY_USER: user, REGISTRY_PASSWORD: password, COSIGN_PASSWORD = "", HELM } = process.env;

try {
  if (!values.registry)
    throw new Error("REGISTRY=<host>/<prefix> says where to publish, as in registry.example.com/team.");
  await releaseVersion(values.tag);
  const progress = showProgress();
  const programs = await releasePrograms(progress, HELM);
  const image = await progress.step("build the image", () => buildImage(join(stateFolder, "image")));
  const registry = { prefix: values.registry, ...(user && password && { credentials: { user, password } }) };
  const signer = values.key
    ? ({ kind: "key", file: values.key, password: COSIGN_PASSWORD } as const)
    : ({ kind: "keyless" } as const);
  const release = await progress.step("publish", () => publish({ registry, signer, image }, programs));
  console.log(`version=${release.version}\nsbom=${image.sbom}`);
  for (const [name, artifact] of Object.entries({ image: release.image, ...release.charts }))
    console.log(`${name}=${artifact.name}\n${name}_digest=${artifact.digest}`);
} catch (error) {
  console.error(`\n${(error as Error).message}`);
  process.exitCode = 1;
}
