import { join } from "node:path";
import { type Progress, silentProgress } from "../build/progress.ts";
import { buildModule } from "../local/builds/build.ts";
import type { GoModule } from "../local/builds/modules.ts";
import { helmProgram } from "../local/kubernetes/helm.ts";

/** Approximate processor seconds on a machine without compiled packages; the two share some packages. */
const cosign: GoModule = { name: "cosign", folder: "../release/programs", target: "./...", buildSeconds: 230 };
const crane: GoModule = { name: "crane", folder: "../release/programs", target: "tool", buildSeconds: 15 };

/** Paths of the programs that publish and verify a release. */
export interface ReleasePrograms {
  /** Signs and verifies artifacts in a registry: https://docs.sigstore.dev/cosign */
  readonly cosign: string;
  /** Pushes an image, prints its digest, and serves a registry (`crane registry serve`). */
  readonly crane: string;
  readonly helm: string;
}

/**
 * The programs, in the versions of their go.mod, built if they are not in the cache (some minutes). `helm` defaults to the
 * local cluster's, which is built with its Kubernetes.
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
