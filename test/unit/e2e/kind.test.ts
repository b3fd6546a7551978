import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import {
  ClusterExists,
  ClusterNotFound,
  ContainerEngineMissing,
  KindError,
  KindMissing,
  kindCli,
} from "../../../e2e/kind.ts";
import { kindProgram } from "../../support/kind/program.ts";

jest.setTimeout(180_000);

const STAND_IN = fileURLToPath(new URL("../../support/kind/docker.sh", import.meta.url));
const SYSTEM = "/usr/bin:/bin";

let program: string;
let folder: string;
let record: string;
beforeAll(async () => {
  program = await kindProgram();
  folder = await mkdtemp(join(tmpdir(), "kind-"));
  record = join(folder, "calls");
  await mkdir(join(folder, "bin"));
  await copyFile(STAND_IN, join(folder, "bin/docker"));
});
beforeEach(() => writeFile(record, ""));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The real program, with a stand-in for Docker's CLI and these clusters. */
const kindOn = (...clusters: string[]) => {
  const env = { PATH: `${join(folder, "bin")}:${SYSTEM}`, HOME: folder, RECORD: record, CLUSTERS: clusters.join(" ") };
  return kindCli({ program, env });
};
const requested = async () => (await readFile(record, "utf8")).trimEnd().split("\n");

describe("the real kind, with a stand-in for Docker", () => {
  test("answers its version and the clusters", async () => {
    expect(await kindOn().version()).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await kindOn("one", "two").clusters()).toEqual(["one", "two"]);
    expect(await kindOn().clusters()).toEqual([]);
  });

  test("makes no cluster of a name that is taken, or that is none", async () => {
    await expect(kindOn("one").create({ name: "one" })).rejects.toThrow(ClusterExists);
    await expect(kindOn().create({ name: "One" })).rejects.toThrow(/'One' is not a valid cluster name/);
    expect((await requested()).filter((call) => call.startsWith("run"))).toEqual([]);
  });

  test("makes a cluster of that image, by that configuration", async () => {
    const image = "kindest/node:v1.36.1";
    const configOf = (role: string) => ({ kind: "Cluster", apiVersion: "kind.x-k8s.io/v1alpha4", nodes: [{ role }] });
    // The stand-in lacks the nodes' network, where kind fails.
    const making = kindOn().create({ name: "new", nodeImage: image, config: configOf("control-plane") });
    await expect(making).rejects.toThrow(/docker network/);
    expect(await requested()).toContain(`inspect --type=image ${image}`);
    await expect(kindOn().create({ name: "new", config: configOf("baker") })).rejects.toThrow(/"baker"/);
  });

  test("deletes a cluster, and does not mind one that is gone", async () => {
    await kindOn("one").delete("one");
    expect(await requested()).toContain("rm -f -v one-control-plane");
    await writeFile(record, "");
    await kindOn("one").delete("gone");
    expect((await requested()).filter((call) => call.startsWith("rm"))).toEqual([]);
  });

  test("brings the images of an archive to the nodes", async () => {
    const archive = join(folder, "image.tar");
    await writeFile(archive, "the images");
    await kindOn("one").loadImageArchive("one", archive);
    expect(await readFile(`${record}.imported`, "utf8")).toBe("the images");
    await expect(kindOn("one").loadImageArchive("gone", archive)).rejects.toThrow(ClusterNotFound);
    await expect(kindOn("one").loadImageArchive("one", join(folder, "no.tar"))).rejects.toThrow(/no such file/);
  });

  test("gives the credentials of a cluster, for this machine or for kind's network", async () => {
    expect(await kindOn("one").kubeconfig("one", { isInternal: true })).toMatch(
      /server: https:\/\/one-control-plane:6443/,
    );
    await expect(kindOn("one").kubeconfig("gone")).rejects.toThrow(ClusterNotFound);
  });
});

describe("where something is missing", () => {
  test("kind itself", async () => {
    const failure = kindCli({ program: join(folder, "no-kind") }).clusters();
    await expect(failure).rejects.toThrow(KindMissing);
    await expect(failure).rejects.toThrow(/install kind .* or use the local cluster/);
  });

  test("Docker's CLI", async () => {
    const bare = kindCli({ program, env: { PATH: folder, HOME: folder } });
    await expect(bare.clusters()).rejects.toThrow(ContainerEngineMissing);
    await expect(bare.create({ name: "new" })).rejects.toThrow(ContainerEngineMissing);
    await expect(bare.kubeconfig("one")).rejects.toThrow(/start it, or use the local cluster/);
  });

  test("the daemon of Docker", async () => {
    const silent = join(folder, "silent");
    await mkdir(silent);
    const words = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?";
    await writeFile(
      join(silent, "docker"),
      `#!/bin/sh\n[ "$1" = -v ] || { echo '${words}' >&2; exit 1; }\necho Docker\n`,
      {
        mode: 0o755,
      },
    );
    const failure = kindCli({ program, env: { PATH: `${silent}:${SYSTEM}`, HOME: folder } }).clusters();
    await expect(failure).rejects.toThrow(ContainerEngineMissing);
    await expect(failure).rejects.toBeInstanceOf(KindError);
  });
});
