import { inCluster, type KubeConfigSource } from "./kit/client/credentials.ts";
import type { Log } from "./kit/log.ts";

/** Cluster of KUBECONFIG, or the one that the process runs in. */
export async function kubeConfigOf(variables: NodeJS.ProcessEnv): Promise<KubeConfigSource> {
  const own = variables.KUBECONFIG === undefined ? inCluster(variables) : undefined;
  if (own !== undefined) return own;
  // client-node understands every kubeconfig but has a thousand modules: a pod without one does not load them.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromDefault();
  return kubeConfig;
}

/** Aborts on the first SIGTERM or SIGINT; a second one ends the process as usual. */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}

/** An uncaught error leaves the process in an unknown state: the next process starts clean. */
export function exitOnLostErrors(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      log.error("unexpected error: the process ends", { event, error });
      process.exit(1);
    });
  }
}
