import { run } from "../processes/run.ts";

/** A cluster, and a user of it. */
export interface ClusterUser {
  /** The kubectl to call. */
  readonly kubectl: string;
  /** As in KUBECONFIG: one path, or several with the system's delimiter between them. */
  readonly kubeconfig: string;
}

/** Runs kubectl as that user and returns what it prints. Fails, with its own words, when it does (see `run`). */
export function kubectl({ kubectl: program, kubeconfig }: ClusterUser, args: readonly string[]): Promise<string> {
  return run(program, args, { env: { ...process.env, KUBECONFIG: kubeconfig } });
}
