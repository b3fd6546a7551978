import { get } from "./api-server.ts";
import { type Outcome, run } from "./command.ts";
import { site } from "./site.ts";

const CALL_DEADLINE_MS = 120_000;
/** Default maximum of a wait for the cluster. */
export const WAIT_SECONDS = 90;

/** The fields of every Kubernetes object, with the tested ones of its kind. */
export type Resource<T = object> = T & {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
};

/** Runs kubectl as the cluster's administrator and answers its output. Fails with kubectl's message. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  return succeeded(args, await call(args, { deadlineMs: CALL_DEADLINE_MS }));
}

/** Applies a manifest (an object; JSON is YAML) and answers kubectl's output. Fails with kubectl's message. */
export async function apply(manifest: object): Promise<string> {
  return succeeded(["apply"], await applied(manifest));
}

/** Applies a manifest that must be refused, and answers the error. */
export async function refusalOf(manifest: object): Promise<string> {
  const { code, stdout, stderr } = await applied(manifest);
  if (code === 0) throw new Error(`it was accepted: ${stdout}`);
  return stderr;
}

/** Runs a program in a pod and answers its output, also after an error. */
export async function execInPod(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await call(["exec", ...args], { deadlineMs: CALL_DEADLINE_MS });
  return stdout + stderr;
}

/** Reads one object, with the arguments of `kubectl get`. Fails when it does not exist. */
export async function read<T = object>(
  kind: string,
  name: string,
  ...options: readonly string[]
): Promise<Resource<T>> {
  const [found] = await get(kind, name, ...options);
  return found as Resource<T>;
}

/** Reads a list of objects, which may be empty, with the arguments of `kubectl get`. */
export async function list<T = object>(kinds: string, ...options: readonly string[]): Promise<readonly Resource<T>[]> {
  return (await get(kinds, ...options)) as readonly Resource<T>[];
}

/** Waits as `kubectl wait` does, for at most `seconds`. */
export async function waitFor(args: readonly string[], seconds = WAIT_SECONDS): Promise<void> {
  const all = ["wait", ...args, `--timeout=${seconds}s`];
  succeeded(all, await call(all, { deadlineMs: seconds * 1000 + CALL_DEADLINE_MS }));
}

function applied(manifest: object): Promise<Outcome> {
  const options = { input: JSON.stringify(manifest), deadlineMs: CALL_DEADLINE_MS };
  return call(["apply", "--filename=-"], options);
}

// Without garbage collection: a call ends before the second one.
function call(args: readonly string[], options: { input?: string; deadlineMs: number }): Promise<Outcome> {
  return run(site.kubectl, { args, env: { KUBECONFIG: site.kubeconfig, GOGC: "off" }, ...options });
}

function succeeded(args: readonly string[], { code, stdout, stderr }: Outcome): string {
  if (code === 0) return stdout;
  throw new Error(`kubectl ${args.join(" ")} ended with ${code}: ${stderr}`);
}
