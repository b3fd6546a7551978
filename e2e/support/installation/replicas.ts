import { readdir, readFile } from "node:fs/promises";
import { kubectl, list, type Resource } from "../kubectl.ts";
import { waitUntil } from "../wait.ts";

export const namespace = "ephemeral-system";

const ENDING_MS = 60_000;

/** The fields of a replica that the tests read. */
export interface Replica {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly podIP: string;
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
    readonly containerStatuses: readonly {
      readonly imageID: string;
      readonly restartCount: number;
      readonly state: { readonly running?: { readonly startedAt: string } };
    }[];
  };
}

/** The platform's pods, once their number is right: after a change, earlier ones take some seconds to end. */
export async function replicas(count = 2): Promise<readonly Resource<Replica>[]> {
  let found = await pods();
  const check = async () => {
    found = await pods();
    return found.length === count;
  };
  await waitUntil({ what: () => `${count} replicas instead of ${found.length}`, check, deadlineMs: ENDING_MS });
  return found;
}

/** Ends a replica as a crash of its machine would, without any clean-up, and removes its pod. */
export async function killReplica(pod: string): Promise<void> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    processes.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")),
  );
  const pids = processes.filter((_, index) => environments[index]?.split("\0").includes(`HOSTNAME=${pod}`));
  if (pids.length === 0) throw new Error(`no process of the pod ${pod} runs here`);
  for (const pid of pids) process.kill(Number(pid), "SIGKILL");
  await kubectl("delete", "pod", pod, `--namespace=${namespace}`, "--force", "--grace-period=0");
}

function pods(): Promise<readonly Resource<Replica>[]> {
  return list<Replica>("pods", `--namespace=${namespace}`, "--selector=app.kubernetes.io/name=ephemeral-environments");
}

/** The log lines of every replica, after the pod's name. */
export function logs(...options: readonly string[]): Promise<string> {
  const pods = ["--selector=app.kubernetes.io/name=ephemeral-environments", "--prefix", "--ignore-errors"];
  return kubectl("logs", `--namespace=${namespace}`, ...pods, ...options);
}
