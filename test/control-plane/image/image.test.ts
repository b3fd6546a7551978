import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ContainerSpec, startContainer, whyNoContainer } from "../../../deploy/image/container.ts";
import { buildImage } from "../../../deploy/image/image.ts";
import { whyNoImage } from "../../../deploy/image/pins.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { startHttpsServer } from "../../support/http/https-server.ts";
import { extractRoot, readImages } from "../../support/image/image-layout.ts";
import { type ImagePod, startImagePod } from "../../support/image/pod.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

/** The limit of an idle platform. */
const RESIDENT_BYTES = 150 * 2 ** 20;

const plane = await controlPlane();

const obstacle = whyNoContainer() ?? (await whyNoImage());
if (obstacle !== undefined) console.log(`The image is not run. ${obstacle}`);
const describeImage = obstacle === undefined ? describe : describe.skip;

describeImage("a container of the platform's image", () => {
  let folder: string;
  let root: string;
  let pod: ImagePod;
  let readyAfterMs: number;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "platform-image-"));
    const { archive } = await buildImage(join(folder, "built"));
    // The archive's content, not the laid-out files.
    const [image] = await readImages(archive, folder);
    if (image === undefined) throw new Error("the archive has no image");
    root = join(folder, "root");
    await extractRoot(image, root);
    const begunAtMs = performance.now();
    pod = await startImagePod({ root, settings: testSettings }, plane);
    const isReady = async () => (await fetch(`${pod.probes}/readyz`).catch(() => undefined))?.ok;
    await until(isReady, { what: "the process to be ready", deadlineMs: 60_000 }).catch((cause) => {
      throw new Error(`not ready: ${pod.output}`, { cause });
    });
    readyAfterMs = performance.now() - begunAtMs;
  }, 180_000);

  afterAll(async () => {
    await pod?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  /** The output of the image's Node at its end. */
  async function said(spec: Omit<ContainerSpec, "root" | "entrypoint">): Promise<string> {
    const container = await startContainer({ root, entrypoint: ["/usr/bin/node"], ...spec });
    await container.ended;
    await container.stop();
    return container.output.trim();
  }

  test("stays below 150 MiB while nothing happens", async () => {
    const resident = await pod.residentBytes();
    const [seconds, mebibytes] = [readyAfterMs / 1000, resident / 2 ** 20];
    console.log(`ready after ${seconds.toFixed(1)} s, ${mebibytes.toFixed(0)} MiB resident while nothing happens`);
    expect(resident).toBeLessThan(RESIDENT_BYTES);
  });

  test("serves what it reads from files of its dependencies", async () => {
    const paths = [
      "/openapi.json",
      "/docs",
      "/docs/swagger-ui-bundle.js",
      "/docs/swagger-ui.css",
      "/redoc/redoc.standalone.js",
    ];
    for (const path of paths) {
      const answer = await fetch(`${pod.api}${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      expect((await answer.text()).length).toBeGreaterThan(300);
    }
  });

  test("refuses callers without a credential, and leads", async () => {
    expect((await fetch(`${pod.api}/api/environments`)).status).toBe(401);
    await pod.untilWritten('"message":"leading"', 30_000);
  });

  test("can load every dependency, whatever the settings ask for", async () => {
    const served = ["redoc", "swagger-ui-dist"];
    const names = Object.keys(packageJson.dependencies).filter((name) => !served.includes(name));
    const script = `for (const name of ${JSON.stringify(names)}) await import(name); console.log("all loaded");`;
    expect(await said({ args: ["--input-type=module", "-e", script] })).toBe("all loaded");
  });

  test("trusts the authorities of its file alone, which a mount can replace", async () => {
    const server = await startHttpsServer(["IP:127.0.0.1"], (_, answer) => answer.end("hello"));
    const shared = join(folder, "authority");
    await mkdir(shared);
    await copyFile(server.caFile, join(shared, "ca-certificates.crt"));
    const script = `fetch("https://${server.address}").then((answer) => answer.text(), ({ cause }) => cause.code).then(console.log)`;
    try {
      expect(await said({ args: ["-e", script], hostNetwork: true })).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
      const folders = { "/etc/ssl/certs": shared };
      expect(await said({ args: ["-e", script], hostNetwork: true, folders })).toBe("hello");
    } finally {
      await server.stop();
    }
  });

  test("can write to /tmp alone, and opens no connection", async () => {
    const script = `
      const { writeFileSync } = require("fs");
      for (const path of ["/tmp/x", "/app/x", "/x", "/etc/x", "/dev/x"])
        try { writeFileSync(path, ""); console.log("wrote", path); } catch ({ code }) { console.log(code, path); }
      console.log(require("child_process").spawnSync("sh").error.code, process.getuid(), process.getgid());`;
    expect((await said({ args: ["-e", script] })).split("\n")).toEqual([
      "wrote /tmp/x",
      "EROFS /app/x",
      "EROFS /x",
      "EROFS /etc/x",
      "EACCES /dev/x",
      "ENOENT 65532 65532",
    ]);
  });

  test("explains itself", async () => {
    const requested = await startContainer({ root, args: ["--help"] });
    expect(await requested.ended).toBe(0);
    await requested.stop();
    expect(requested.output).toContain("--settings FILE");
  });

  test("ends well on SIGTERM", async () => {
    await pod.stop();
    expect(await pod.ended).toBe(0);
    expect(pod.output).toContain('"message":"stopped"');
  }, 60_000);
});
