import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseAllDocuments } from "yaml";
import { writeArchive } from "../../../../deploy/build/archive.ts";
import { writeLayer } from "../../../../deploy/build/layer.ts";
import { run } from "../../../../deploy/build/run.ts";
import { type ReleasePrograms, releasePrograms } from "../../../../deploy/release/programs.ts";
import { publish, type Release, releaseVersion } from "../../../../deploy/release/publish.ts";
import type { Artifact } from "../../../../deploy/release/registry.ts";
import { startRegistry, type TestRegistry } from "../../../support/doubles/registry.ts";

const BUILD_MS = 30 * 60_000;
const SBOM = { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components: [{ type: "library", name: "one" }] };
const PASSWORD = "of the throw-away key";

let programs: ReleasePrograms;
let registry: TestRegistry;
let folder: string;
let release: Release;

beforeAll(async () => {
  programs = await releasePrograms();
  registry = await startRegistry(programs.crane);
  folder = await mkdtemp(join(tmpdir(), "release-"));
  await writeFile(join(folder, "config.json"), dockerConfig());
  for (const name of ["ours", "strangers"]) await makeKey(name);
  release = await publish(publication("team", "ours", await makeImage("first")), programs);
}, BUILD_MS);

afterAll(async () => {
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

const dockerConfig = () => {
  const { user, password } = registry.credentials;
  return JSON.stringify({
    auths: { [registry.host]: { auth: Buffer.from(`${user}:${password}`).toString("base64") } },
  });
};

const variables = () => ({
  ...process.env,
  COSIGN_PASSWORD: PASSWORD,
  DOCKER_CONFIG: folder,
  HELM_REGISTRY_CONFIG: join(folder, "config.json"),
});

const call = (program: keyof ReleasePrograms, ...args: string[]) => run(programs[program], args, { env: variables() });

const makeKey = (name: string) =>
  run(programs.cosign, ["generate-key-pair", "--output-key-prefix", join(folder, name)], { env: variables() });

async function makeImage(content: string): Promise<{ archive: string; sbom: string; digest: string }> {
  const root = join(folder, content);
  await mkdir(root);
  await writeFile(join(root, "program"), content);
  const layer = await writeLayer(root, join(folder, `${content}.layer`), { gzip: true });
  const archive = join(folder, `${content}.tar`);
  const [digest = ""] = await writeArchive(
    [{ reference: "docker.io/local/app:1", layers: [layer], config: {} }],
    archive,
  );
  const sbom = join(folder, "sbom.cdx.json");
  await writeFile(sbom, JSON.stringify(SBOM));
  return { archive, sbom, digest };
}

function publication(team: string, key: string, image: Awaited<ReturnType<typeof makeImage>>) {
  return {
    registry: { prefix: `${registry.host}/${team}`, credentials: registry.credentials },
    signer: { kind: "key", file: join(folder, `${key}.key`), password: PASSWORD } as const,
    image,
  };
}

/** The command of docs/install.md, with a key and without a public log. */
const verify = ({ name, digest }: Artifact, key = "ours", ...command: string[]) => {
  const options = ["--key", join(folder, `${key}.pub`), "--insecure-ignore-tlog", "--allow-http-registry"];
  return call("cosign", ...(command.length > 0 ? command : ["verify"]), ...options, `${name}@${digest}`);
};

const billOf = async (artifact: Artifact) => {
  const printed = await verify(artifact, "ours", "verify-attestation", "--type", "cyclonedx");
  const { payload } = JSON.parse(printed) as { payload: string };
  return JSON.parse(Buffer.from(payload, "base64").toString()) as { predicate: object; subject: object };
};

describe("a published release", () => {
  test("is the image that was built and both charts, under one version", async () => {
    expect(release.version).toBe(await releaseVersion());
    expect(release.image.name).toBe(`${registry.host}/team/ephemeral-environments`);
    for (const { name, digest } of [release.image, release.charts.platform, release.charts.environment]) {
      expect((await call("crane", "digest", `${name}:${release.version}`)).trim()).toBe(digest);
    }
  });

  test("is signed by its digests", async () => {
    for (const artifact of [release.image, release.charts.platform, release.charts.environment]) {
      const [claim] = JSON.parse(await verify(artifact)) as { critical: { image: object } }[];
      expect(claim?.critical.image).toEqual({ "docker-manifest-digest": artifact.digest });
    }
  });

  test("has the image's bill of materials, about that digest", async () => {
    const { predicate, subject } = await billOf(release.image);
    expect(predicate).toMatchObject({ bomFormat: "CycloneDX", components: SBOM.components });
    expect(subject).toMatchObject([{ digest: { sha256: release.image.digest.replace("sha256:", "") } }]);
  });

  test.each([
    ["without values for it", []],
    ["with values that lack its block", ["image=null"]],
  ])("installs that image by its digest, %s", async (_, further) => {
    const chart = `oci://${release.charts.platform.name}`;
    const options = ["--version", release.version, "--plain-http"];
    const given = ["settings.baseDomain=env.example.com", "settings.defaultChart.path=."];
    const source = [
      "settings.defaultChart.repoUrl=https://git.example.com/chart.git",
      "settings.defaultChart.revision=main",
    ];
    const set = [...given, ...source, ...further].flatMap((one) => ["--set", one]);
    const rendered = await call("helm", "template", "platform", chart, ...options, ...set);
    const deployment = parseAllDocuments(rendered)
      .map((document) => document.toJS())
      .find((object) => object?.kind === "Deployment");
    const { name, digest } = release.image;
    expect(deployment.spec.template.spec.containers[0].image).toBe(`${name}@${digest}`);
    expect(rendered).toContain("kind: CustomResourceDefinition");
  });

  test.each(["platform", "environment"] as const)("brings the documentation of the chart %s with it", async (chart) => {
    const shown = await show("readme", chart);
    // helm first prints what it has pulled.
    expect(shown).toContain(await readFile(join(charts, chart, "README.md"), "utf8"));
    expect(await show("chart", chart)).toContain(`version: ${release.version}\n`);
  });

  test("brings the schema of the chart of environments with it", async () => {
    const { name } = release.charts.environment;
    const options = ["--version", release.version, "--plain-http"];
    const rendered = call("helm", "template", "x", `oci://${name}`, ...options, "--set", "other=1");
    await expect(rendered).rejects.toThrow(/additional properties 'other' not allowed/);
  });

  test("can be published again, with the same digests", async () => {
    const again = await publish(publication("team", "ours", { ...(await readImage()) }), programs);
    expect(again.image).toEqual(release.image);
  });
});

const charts = fileURLToPath(new URL("../../../../deploy/charts", import.meta.url));
const show = (what: string, chart: "platform" | "environment") =>
  call("helm", "show", what, `oci://${release.charts[chart].name}`, "--version", release.version, "--plain-http");
const readImage = async () => ({
  archive: join(folder, "first.tar"),
  sbom: join(folder, "sbom.cdx.json"),
  digest: release.image.digest,
});

describe("verification refuses", () => {
  test("a foreign signature", async () => {
    const theirs = await publish(publication("theirs", "strangers", await readImage()), programs);
    await expect(verify(theirs.image)).rejects.toThrow(/no matching signatures|accepted signatures do not match/);
    await expect(verify(theirs.charts.platform)).rejects.toThrow(
      /no matching signatures|accepted signatures do not match/,
    );
    await expect(verify(theirs.image, "strangers")).resolves.toContain(theirs.image.digest);
  });

  test("another image that was pushed under the released name and tag", async () => {
    const other = await makeImage("other");
    const layout = join(folder, "layout");
    await mkdir(layout);
    await run("tar", ["--extract", `--file=${other.archive}`, `--directory=${layout}`]);
    const { name } = release.image;
    await call("crane", "push", layout, `${name}:moved`);
    await expect(verify({ name, digest: other.digest })).rejects.toThrow(/no signatures found/);
    await expect(
      verify({ name, digest: other.digest }, "ours", "verify-attestation", "--type", "cyclonedx"),
    ).rejects.toThrow();
  });

  test("a signature that was copied to another image", async () => {
    const { name, digest } = release.image;
    const other = await makeImage("copied-to");
    const layout = join(folder, "layout-of-copy");
    await mkdir(layout);
    await run("tar", ["--extract", `--file=${other.archive}`, `--directory=${layout}`]);
    await call("crane", "push", layout, `${name}:copied`);
    const tagOf = (of: string) => `${name}:${of.replace(":", "-")}`;
    await call("crane", "copy", tagOf(digest), tagOf(other.digest));
    await expect(verify({ name, digest: other.digest })).rejects.toThrow(/digest does not match/);
  });
});

describe("nothing is published", () => {
  test("of a tag that is not the version of the code and the charts", async () => {
    await expect(releaseVersion("v9.9.9")).rejects.toThrow(/one version: package\.json says .*the tag says 9\.9\.9/);
    await expect(releaseVersion(`v${release.version}`)).resolves.toBe(release.version);
  });

  test("and signed when the registry holds another image than was built", async () => {
    const lied = { ...(await readImage()), digest: `sha256:${"0".repeat(64)}` };
    await expect(publish(publication("lied", "ours", lied), programs)).rejects.toThrow(
      /in the registry, and sha256:0+ was built/,
    );
    await expect(verify({ ...release.image, name: `${registry.host}/lied/ephemeral-environments` })).rejects.toThrow();
  });

  test("by a user whom the registry does not know", async () => {
    const stranger = publication("team", "ours", await readImage());
    const credentials = { user: "publisher", password: "wrong" };
    const asStranger = { ...stranger, registry: { ...stranger.registry, credentials } };
    await expect(publish(asStranger, programs)).rejects.toThrow(/401|unauthorized/i);
  });
});
