import { join } from "node:path";
import { type Progress, silentProgress } from "../build/progress.ts";
import { buildModule } from "../local/builds/build.ts";
import type { GoModule } from "../local/builds/modules.ts";
import { helmProgram } from "../local/kubernetes/helm.ts";

/** The processor seconds are about those of a machine that has compiled nothing yet; the two share some packages. */
const cosign: GoModule = { name: "cosign", folder: "../release/programs", target: "./...", buildSeconds: 230 };
const crane: GoModule = { name: "crane", folder: "../release/programs", target: "tool", buildSeconds: 15 };

/** The paths of the programs that a release is published and verified with. */
export interface ReleasePrograms {
  /** Signs what is in a registry, and verifies it: https://docs.sigstore.dev/cosign */
  readonly cosign: string;
  /** Pushes an image, tells its digest, and serves a registry of its own (`crane registry serve`). */
  readonly crane: string;
  /** Packs charts and pushes them. */
  readonly helm: string;
}

/**
 * The programs, in the versions of their go.mod; built now (some minutes) if they are not in the cache. `helm` is that of the
 * local cluster unless said, which is built with its Kubernetes.
 */
export async function releasePrograms(progress: Progress = silentProgress, helm?: string): Promise<ReleasePrograms> {
  const signer = await buildModule(cosign, progress);
  const pusher = await buildModule(crane, progress);
  return {
    cosign: join(signer.programs, "cosign"),
    crane: join(pusher.programs, "crane"),
    helm: helm ?? (await helmProgram(progress)),
  };
}
