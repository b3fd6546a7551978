import { createInterface } from "node:readline/promises";
import type { ClusterEntry } from "../kubernetes/kubeconfig.ts";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";

/** The current context of a kubeconfig. */
export interface Context {
  readonly name: string;
  readonly cluster: ClusterEntry;
}

/** Asks a person a question and answers the typed text. */
export type Ask = (question: string) => Promise<string>;

/**
 * The current context of that user's kubeconfig. Calls no cluster. Fails when there is none, or when the operator can't use
 * it.
 */
export async function currentContext(user: ClusterUser): Promise<Context> {
  const view = ["config", "view", "--raw", "--minify", "--flatten", "--output=json"];
  const printed = await kubectl(user, view).catch((cause: Error) => {
    throw new Error(`KUBECONFIG=${user.kubeconfig} names no cluster: ${cause.message}`, { cause });
  });
  const config = JSON.parse(printed) as {
    readonly "current-context": string;
    readonly clusters: readonly [{ readonly cluster: ClusterEntry }];
  };
  const [{ cluster }] = config.clusters;
  if (!cluster["proxy-url"]) return { name: config["current-context"], cluster };
  throw new Error(`${cluster.server} is reached through a proxy (proxy-url), which the operator can't do.`);
}

/**
 * Has a person confirm the context by its name, because the current context may be another cluster than they think.
 *
 * `yes` is a confirmation given with the command. Fails when another name is typed and, with the next step, when there is no
 * `ask`.
 */
export async function confirmContext({ name, cluster }: Context, how: { yes: boolean; ask?: Ask | undefined }) {
  if (how.yes) return;
  const what = `the cluster of the context "${name}" (${cluster.server})`;
  if (!how.ask) {
    throw new Error(
      `CLUSTER=existing installs the platform into ${what}, and there is no terminal to ask on whether it is the right one: confirm with YES=1 make up.`,
    );
  }
  const typed = await how.ask(`This installs the platform into ${what}.\nType the name of the context to go on: `);
  if (typed.trim() !== name) throw new Error(`Nothing was done: "${typed.trim()}" is not the name of the context.`);
}

/** Asks on this process's terminal; undefined without one. */
export function terminal(): Ask | undefined {
  if (!process.stdin.isTTY) return undefined;
  return async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    const ended = new AbortController();
    lines.once("close", () => ended.abort());
    try {
      return await lines.question(question, { signal: ended.signal });
    } catch (error) {
      // Control-D, or Control-C.
      if (ended.signal.aborted) return "";
      throw error;
    } finally {
      lines.close();
    }
  };
}
