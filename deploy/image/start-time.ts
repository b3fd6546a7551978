import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { startContainer } from "./container.ts";

const SETTINGS = {
  baseDomain: "env.example.test",
  defaultChart: { repoUrl: "https://git.example.test/chart.git", path: ".", revision: "main" },
};
const SERVING = '"message":"serving"';
const DEADLINE_MS = 60_000;

/** Costs of a container's start. */
export interface StartCost {
  /** Milliseconds until the process listens. */
  readonly ms: number;
  readonly bytes: number;
}

/**
 * Measures a start in a network without an API server. Another test, with an API server, measures the needs of a filled and
 * idle replica.
 */
export async function measureStart(root: string): Promise<StartCost> {
  const folder = await mkdtemp(join(tmpdir(), "image-start-"));
  try {
    const file = join(folder, "settings.yaml");
    await writeFile(file, stringify(SETTINGS));
    // For the image's user.
    await chmod(file, 0o644);
    await chmod(folder, 0o755);
    const began = performance.now();
    const container = await startContainer({
      root,
      args: ["--settings", "/tmp/settings/settings.yaml"],
      env: { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "443" },
      folders: { "/tmp/settings": folder },
    });
    try {
      await container.untilWritten(SERVING, DEADLINE_MS);
      const ms = performance.now() - began;
      return { ms, bytes: await container.residentBytes() };
    } finally {
      await container.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
