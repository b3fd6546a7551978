import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readSettings } from "../../../../../config/settings.ts";
import { silentProgress } from "../../../../../deploy/build/progress.ts";
import { sourceOf } from "../../../../../deploy/local/builds/build.ts";
import { makeRepositories } from "../../../../../deploy/local/git/repositories.ts";
import { argoCd } from "../../../../../deploy/local/kind/argo-cd.ts";
import { clusterConfig } from "../../../../../deploy/local/kind/cluster.ts";
import { releasedImage } from "../../../../../deploy/local/kind/images.ts";
import { kindValues } from "../../../../../deploy/local/kind/platform.ts";
import { type Sources, startKindPlatform } from "../../../../../deploy/local/kind/up.ts";
import { renderChart } from "../../../../../deploy/local/kubernetes/helm.ts";
import { kindCli } from "../../../../../e2e/kind.ts";
import { kindProgram } from "../../../../support/kind/program.ts";

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../../../../..");
const standIn = join(checkout, "test/support/doubles/docker-machine.mjs");
const DIGEST = `sha256:${"a".repeat(64)}`;
const images = {
  platform: { repository: "registry.example.com/platform", digest: DIGEST, pullPolicy: "IfNotPresent" },
  fingerprint: DIGEST,
} as const;

interface Call {
  readonly program: string;
  readonly args: readonly string[];
  readonly input?: string;
}

let folder: string;
let bin: string;
let record: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "kind-platform-"));
  record = join(folder, "calls");
  await writeFile(record, "");
  bin = join(folder, "bin");
  await mkdir(bin);
  for (const name of ["kind", "docker", "kubectl", "helm"]) {
    const script = `#!/bin/sh\nRECORD='${record}' exec '${process.execPath}' '${standIn}' ${name} "$@"\n`;
    await writeFile(join(bin, name), script, { mode: 0o755 });
  }
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const calls = async () =>
  (await readFile(record, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);
const words = ({ program, args }: Call) => [program, ...args].join(" ");

/** Objects that were applied, or written into values, in the order of the calls. */
const applied = (made: readonly Call[]) =>
  made.flatMap(({ program, input }) => {
    if (program !== "kubectl" || !input?.startsWith("{")) return [];
    const object = JSON.parse(input) as { kind: string; items?: object[] };
    return object.items ?? [object];
  });

async function manifestsOfArgoCd(): Promise<string> {
  const module = await sourceOf("github.com/argoproj/argo-cd/v3", join(checkout, "deploy/local/programs/kubernetes"));
  return readFile(join(module, "manifests/core-install.yaml"), "utf8");
}

async function start(more: Partial<Sources> = {}) {
  const archive = join(folder, "samples.tar");
  await writeFile(archive, "the images");
  const tools = {
    kind: kindCli({ program: join(bin, "kind") }),
    docker: join(bin, "docker"),
    kubectl: join(bin, "kubectl"),
    helm: join(bin, "helm"),
  };
  const sources: Sources = {
    read: manifestsOfArgoCd,
    hostPrograms: async (state) => {
      await mkdir(join(state, "repositories"), { recursive: true });
      return makeRepositories(join(state, "repositories"));
    },
    images: async () => ({ archives: [archive], ...images }),
    ...more,
  };
  return startKindPlatform(tools, sources, { folder: join(folder, "state"), progress: silentProgress });
}

describe("the platform on a kind cluster", () => {
  test("is set up from nothing: the cluster, its images, Argo CD, the ingress, then the platform by helm", async () => {
    await start();
    const made = await calls();
    const [create] = made.filter((call) => words(call).startsWith("kind create cluster"));
    expect(JSON.parse(create?.input ?? "")).toEqual(clusterConfig);
    const order = made
      .map(words)
      .flatMap((call) => call.match(/create cluster|load image|argocd|traefik|helm upgrade/) ?? []);
    expect([...new Set(order)]).toEqual(["create cluster", "load image", "argocd", "traefik", "helm upgrade"]);
    const install = made.find(({ program }) => program === "helm");
    expect(install?.args).toEqual(expect.arrayContaining(["--install", "--wait", "--wait-for-jobs"]));
    expect(JSON.parse(install?.input ?? "")).toMatchObject({
      image: images.platform,
      networkPolicy: { apiFrom: [{ ipBlock: { cidr: "172.18.0.0/16" } }] },
      settings: {
        ingressAddress: "10.96.12.34:443",
        defaultChart: { repoUrl: "http://172.18.0.1:9300/platform/environment-chart.git" },
        api: { issuers: [{ issuer: "http://127.0.0.1:9400", jwksUri: "https://172.18.0.1:9443/jwks" }] },
      },
    });
  }, 60_000);

  test("knows the sample's repositories, by where pods reach them, and one authority for all that it asks", async () => {
    const { ca } = await start();
    const objects = applied(await calls());
    const authority = await readFile(ca.certificate, "utf8");
    expect(objects).toContainEqual(
      expect.objectContaining({ kind: "ConfigMap", data: { "ca-certificates.crt": authority } }),
    );
    const cloneUrl = "http://172.18.0.1:9300/platform/sample-backend.git";
    expect(objects).toContainEqual(
      expect.objectContaining({ kind: "Repository", spec: expect.objectContaining({ cloneUrl, type: "backend" }) }),
    );
  }, 60_000);

  test("is upgraded when it is started again, in the cluster that is there", async () => {
    await start();
    await writeFile(record, "");
    await start();
    const made = (await calls()).map(words);
    expect(made.filter((call) => call.startsWith("kind create"))).toEqual([]);
    expect(made.filter((call) => call.startsWith("helm upgrade"))).toHaveLength(1);
  }, 60_000);

  test("is not begun with an Argo CD that is not the pinned one", async () => {
    const read = async (url: string) => `# Not what was at ${url}`;
    await expect(start({ read })).rejects.toThrow(/is not what is pinned/);
    expect((await calls()).map(words).filter((call) => /argocd|helm/.test(call))).toEqual([]);
  }, 60_000);

  test("has values that the chart takes, of the image that was asked for", async () => {
    const state = join(folder, "repositories");
    await mkdir(state);
    const repositories = await makeRepositories(state);
    const bridge = { address: "172.18.0.1", network: "172.18.0.0/16" };
    const values = kindValues({ bridge, repositories, images, ingressAddress: "10.96.12.34:443" });
    const manifests = await renderChart({
      chart: "platform",
      release: "platform",
      namespace: "ephemeral-system",
      values,
    });
    const deployments = manifests.filter(({ kind }) => kind === "Deployment");
    expect(deployments.map(({ metadata }) => metadata.name).sort()).toEqual(["gate", "platform"]);
    for (const one of deployments) expect(JSON.stringify(one)).toContain(`registry.example.com/platform@${DIGEST}`);
    const [wildcard] = manifests.filter(({ kind }) => kind === "Ingress");
    expect(wildcard?.spec).toMatchObject({ rules: [{ host: "*.env.localhost" }] });
    const settings = manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "settings");
    const data = settings?.data as Record<string, string> | undefined;
    const file = join(folder, "settings.yaml");
    await writeFile(file, data?.["settings.yaml"] ?? "");
    expect(readSettings(file)).toMatchObject({ publicPort: 18443, api: { trustedProxyHops: 0 } });
    const policies = manifests.filter(({ kind }) => kind === "NetworkPolicy");
    expect(JSON.stringify(policies)).toContain('"cidr":"172.18.0.0/16"');
  }, 60_000);
});

describe("the pinned Argo CD", () => {
  test("is of the version that the local cluster is built with", async () => {
    const modFile = await readFile(join(checkout, "deploy/local/programs/kubernetes/go.mod"), "utf8");
    const [, version = "none"] = /github\.com\/argoproj\/argo-cd\/v3 (v\S+)/.exec(modFile) ?? [];
    expect(argoCd.url).toContain(`/argo-cd/${version}/`);
  });
});

test("the real kind takes the cluster's configuration", async () => {
  const docker = join(folder, "docker");
  await mkdir(docker);
  await symlink(join(checkout, "test/support/kind/docker.sh"), join(docker, "docker"));
  const env = { PATH: `${docker}:/usr/bin:/bin`, HOME: folder, RECORD: record, CLUSTERS: "" };
  const kind = kindCli({ program: await kindProgram(), env });
  // The stand-in lacks the nodes' network, where kind fails; an unknown configuration fails earlier.
  await expect(kind.create({ name: "new", config: clusterConfig })).rejects.toThrow(/docker network/);
  const wrong = { ...clusterConfig, nodes: [{ ...clusterConfig.nodes[0], extraPorts: [] }] };
  await expect(kind.create({ name: "new", config: wrong })).rejects.toThrow(/extraPorts/);
}, 180_000);

describe("the command", () => {
  const make = (command: string, PATH: string, more: NodeJS.ProcessEnv = {}) => {
    const env = { ...process.env, ...more, PATH, CLUSTER: "kind", STATE_FOLDER: join(folder, "state") };
    return execute(process.execPath, ["deploy/local/main.ts", command], { cwd: checkout, env, timeout: 60_000 });
  };

  test("names everything that is missing, where it is had, and what needs no Docker", async () => {
    const failure = make("up", join(folder, "nothing"));
    await expect(failure).rejects.toMatchObject({
      stderr: expect.stringMatching(/local cluster, which needs no Docker: "make up"/),
    });
    for (const [name, where] of [
      ["docker", "docs.docker.com"],
      ["kind", "kind.sigs.k8s.io"],
      ["helm", "helm.sh"],
    ]) {
      await expect(failure).rejects.toMatchObject({
        stderr: expect.stringMatching(new RegExp(`- ${name}: https://${where}`)),
      });
    }
  }, 60_000);

  test("says when Docker is there and does not answer", async () => {
    await writeFile(join(bin, "docker"), "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const path = [bin, process.env.PATH].join(delimiter);
    await expect(make("up", path)).rejects.toMatchObject({
      stderr: expect.stringMatching(/does not answer: start it .*Cannot connect to the Docker daemon/s),
    });
    expect(await readFile(record, "utf8")).toBe("");
  }, 60_000);

  test("refuses an image without a version before it does anything", async () => {
    const path = [bin, process.env.PATH].join(delimiter);
    await expect(make("up", path, { IMAGE: "registry.example.com/platform" })).rejects.toMatchObject({
      stderr: expect.stringContaining("IMAGE=registry.example.com/platform names no image"),
    });
    expect(await readFile(record, "utf8")).toBe("");
  }, 60_000);

  test("deletes the cluster and forgets it", async () => {
    await start();
    await make("down", [bin, process.env.PATH].join(delimiter));
    expect((await calls()).map(words)).toContain("kind delete cluster --name ephemeral-environments");
    expect(await readFile(`${record}.clusters`, "utf8")).toBe("");
    await expect(readFile(join(folder, "state/kind/kubeconfig"))).rejects.toThrow("ENOENT");
  }, 60_000);
});

describe("IMAGE", () => {
  const repository = "registry.example.com:5000/team/platform";
  test.each([
    { reference: `${repository}@${DIGEST}`, given: { repository, digest: DIGEST } },
    { reference: `${repository}:0.1.0`, given: { repository, tag: "0.1.0" } },
    { reference: `${repository}:0.1.0@${DIGEST}`, given: { repository, tag: "0.1.0", digest: DIGEST } },
  ])("names the image $reference", ({ reference, given }) => {
    expect(releasedImage(reference)).toEqual({ ...given, pullPolicy: "IfNotPresent" });
  });

  test.each(["", repository, `${repository}@sha256:12`, "two words:1"])("names no image: '%s'", (reference) => {
    expect(() => releasedImage(reference)).toThrow(/names no image/);
  });
});
