import { type RunOptions, run } from "../../build/run.ts";

/** A user of a cluster. */
export interface ClusterUser {
  readonly kubectl: string;
  /** Value as in KUBECONFIG: one path, or several with the system's delimiter. */
  readonly kubeconfig: string;
  /** The context of the kubeconfig; default: the current one, which its owner may change at any time. */
  readonly context?: string;
}

/**
 * Runs kubectl as that user and returns its output; `input` becomes its standard input. The default deadline is a minute.
 * Fails with kubectl's message (see `run`).
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
