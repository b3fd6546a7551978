import { type RunOptions, run } from "../../build/run.ts";

/** A cluster, and a user of it. */
export interface ClusterUser {
  /** The kubectl to call. */
  readonly kubectl: string;
  /** As in KUBECONFIG: one path, or several with the system's delimiter between them. */
  readonly kubeconfig: string;
  /** The context of the kubeconfig; the current one unless said, which its owner may change at any time. */
  readonly context?: string;
}

/**
 * Runs kubectl as that user and returns what it prints; `input` is given to it, and it has a minute unless `deadlineMs` says
 * otherwise. Fails, with its own words, when it does (see `run`).
 */
export function kubectl(
  user: ClusterUser,
  args: readonly string[],
  options: Pick<RunOptions, "input" | "deadlineMs"> = {},
): Promise<string> {
  const { kubectl: program, kubeconfig, context } = user;
  const chosen = context === undefined ? [] : [`--context=${context}`];
  return run(program, [...chosen, ...args], { ...options, env: { ...process.env, KUBECONFIG: kubeconfig } });
}
