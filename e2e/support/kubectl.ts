import { get } from "./api-server.ts";
import { type Outcome, run } from "./command.ts";
import { site } from "./site.ts";

const CALL_DEADLINE_MS = 120_000;
/** How long a wait for something in the cluster may take, unless it says otherwise. */
export const WAIT_SECONDS = 90;

/** The fields of every Kubernetes object, and those that the test knows of its kind. */
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

/** Runs kubectl as the cluster's administrator and answers what it prints. Fails with its own words. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  return succeeded(args, await call(args, { deadlineMs: CALL_DEADLINE_MS }));
}

/** Applies a manifest (an object; JSON is YAML) and answers what kubectl says. Fails with its own words. */
export async function apply(manifest: object): Promise<string> {
  return succeeded(["apply"], await applied(manifest));
}

/** Applies a manifest that has to be refused, and answers with which words it was. */
export async function refusalOf(manifest: object): Promise<string> {
  const { code, stdout, stderr } = await applied(manifest);
  if (code === 0) throw new Error(`it was accepted: ${stdout}`);
  return stderr;
}

/** Runs a program in a pod and answers what it prints, also when it ends with an error. */
export async function execInPod(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await call(["exec", ...args], { deadlineMs: CALL_DEADLINE_MS });
  return stdout + stderr;
}

/** Reads one object, by the words of `kubectl get`. Fails when it is not there. */
export async function read<T = object>(
  kind: string,
  name: string,
  ...options: readonly string[]
): Promise<Resource<T>> {
  const [found] = await get(kind, name, ...options);
  return found as Resource<T>;
}

/** Reads a list of objects, which may be empty, by the words of `kubectl get`. */
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

// Its collector is off: a call ends before it would have run twice.
function call(args: readonly string[], options: { input?: string; deadlineMs: number }): Promise<Outcome> {
  return run(site.kubectl, { args, env: { KUBECONFIG: site.kubeconfig, GOGC: "off" }, ...options });
}

function succeeded(args: readonly string[], { code, stdout, stderr }: Outcome): string {
  if (code === 0) return stdout;
  throw new Error(`kubectl ${args.join(" ")} ended with ${code}: ${stderr}`);
}
