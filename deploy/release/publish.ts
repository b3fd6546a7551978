import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseDocument } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { run } from "../build/run.ts";
import type { BuiltImage } from "../image/image.ts";
import type { ReleasePrograms } from "./programs.ts";
import { type Artifact, type Registry, registryCalls } from "./registry.ts";
import { type Signer, signerOf } from "./sign.ts";

const chartsFolder = resolve(import.meta.dirname, "../charts");

const charts = ["platform", "environment"] as const;
const IMAGE = "ephemeral-environments";
const DEADLINE_MS = 10 * 60_000;

/** A published release. */
export interface Release {
  readonly version: string;
  readonly image: Artifact;
  readonly charts: Readonly<Record<(typeof charts)[number], Artifact>>;
}

/** The registry, the signer and the image of a release. */
export interface Publication {
  readonly registry: Registry;
  readonly signer: Signer;
  readonly image: Pick<BuiltImage, "archive" | "sbom" | "digest">;
}

/** The common version of the code and both charts; fails when they differ, or differ from `tag` (`v0.1.0`). */
export async function releaseVersion(tag?: string): Promise<string> {
  const said = new Map([["package.json", packageJson.version]]);
  for (const chart of charts) {
    const { version } = parseDocument(await readFile(join(chartsFolder, chart, "Chart.yaml"), "utf8")).toJS();
    said.set(`the chart ${chart}`, String(version));
  }
  if (tag !== undefined) said.set("the tag", tag.replace(/^v/, ""));
  if (new Set(said.values()).size === 1) return packageJson.version;
  throw new Error(
    `A release has one version: ${[...said].map(([where, version]) => `${where} says ${version}`).join(", ")}.`,
  );
}

/**
 * Pushes the image and the charts of this checkout, signs each by its digest, and attaches the image's bill of materials.
 * The platform's chart names the image by digest, so verifying the chart verifies its image.
 *
 * Repeatable for the same content. Fails when the registry holds another digest than the built one.
 */
export async function publish({ registry, signer, image }: Publication, programs: ReleasePrograms): Promise<Release> {
  const version = await releaseVersion();
  const work = await mkdtemp(join(tmpdir(), "release-"));
  try {
    const calls = await registryCalls(registry, programs, work);
    const signing = await signerOf(signer, calls, work);
    const pushed = await pushImage(`${registry.prefix}/${IMAGE}`, { image, version, work }, calls);
    await signing.sign(pushed);
    await signing.attest(pushed, { type: "cyclonedx", file: image.sbom });
    const push = async (chart: (typeof charts)[number]) => {
      const file = await packChart(chart, { image: pushed, work, helm: programs.helm });
      const artifact = await calls.pushChart(file, { name: `${registry.prefix}/charts/${chart}`, version });
      await signing.sign(artifact);
      return artifact;
    };
    return {
      version,
      image: pushed,
      charts: { platform: await push("platform"), environment: await push("environment") },
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface ImageToPush {
  readonly image: Publication["image"];
  readonly version: string;
  readonly work: string;
}

async function pushImage(
  name: string,
  { image, version, work }: ImageToPush,
  { pushImage: push }: Awaited<ReturnType<typeof registryCalls>>,
): Promise<Artifact> {
  const layout = join(work, "image");
  await mkdir(layout);
  await run("tar", ["--extract", `--file=${image.archive}`, `--directory=${layout}`], { deadlineMs: DEADLINE_MS });
  const artifact = await push(layout, { name, version });
  if (artifact.digest === image.digest) return artifact;
  throw new Error(`${name}:${version} is ${artifact.digest} in the registry, and ${image.digest} was built.`);
}

interface ChartToPack {
  readonly image: Artifact;
  readonly work: string;
  readonly helm: string;
}

/** The chart's archive. That of the platform names the image, also where a template looks for what values lack. */
async function packChart(chart: string, { image, work, helm }: ChartToPack): Promise<string> {
  const folder = join(work, "charts", chart);
  await cp(join(chartsFolder, chart), folder, { recursive: true });
  if (chart === "platform") {
    for (const file of ["values.yaml", "files/defaults.yaml"]) await nameImage(join(folder, file), image);
  }
  const archives = join(work, "archives");
  const said = await run(helm, ["package", folder, `--destination=${archives}`], { deadlineMs: DEADLINE_MS });
  return said.slice(said.indexOf(archives)).trim();
}

async function nameImage(file: string, { name, digest }: Artifact): Promise<void> {
  const values = parseDocument(await readFile(file, "utf8"));
  values.setIn(["image", "repository"], name);
  values.setIn(["image", "digest"], digest);
  await writeFile(file, values.toString({ lineWidth: 0 }));
}
