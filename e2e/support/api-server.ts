import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { json } from "node:stream/consumers";
import { site } from "./site.ts";

const DEADLINE_MS = 15_000;
/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery */
const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface Kind {
  readonly kind: string;
  readonly names: readonly string[];
  /** Path, for example `/apis/apps/v1`. */
  readonly path: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

/**
 * Reads as `kubectl get KINDS [NAME] OPTIONS --output=json` would, without a process. Fails with the API server's message.
 */
export async function get(kinds: string, ...requested: readonly string[]): Promise<readonly object[]> {
  const found = await Promise.all(kinds.split(",").map(async (kind) => objectsOf(await kindOf(kind), requested)));
  return found.flat();
}

async function objectsOf(
  { kind, path, plural, isNamespaced }: Kind,
  requested: readonly string[],
): Promise<readonly object[]> {
  const { name, namespace, isEverywhere, ...selectors } = parsed(requested);
  const place = isNamespaced && !isEverywhere ? `${path}/namespaces/${namespace}/${plural}` : `${path}/${plural}`;
  if (name !== undefined) return [await ask<object>(`${place}/${name}`)];
  const { items } = await ask<{ items: readonly object[] }>(`${place}?${new URLSearchParams(selectors)}`);
  // Items of lists lack their kind.
  return items.map((item) => ({ ...item, kind }));
}

function parsed(requested: readonly string[]) {
  const options = new Map(requested.filter(isOption).map((option) => option.split(/=(.*)/s) as [string, string]));
  const take = (option: string) => {
    const value = options.get(option);
    options.delete(option);
    return value;
  };
  const found = {
    name: requested.find((word) => !isOption(word)),
    namespace: take("--namespace") ?? "default",
    isEverywhere: options.delete("--all-namespaces"),
    labelSelector: take("--selector") ?? "",
    fieldSelector: take("--field-selector") ?? "",
  };
  if (options.size > 0) throw new Error(`there is no option ${[...options.keys()].join()} here`);
  return found;
}

const isOption = (word: string) => word.startsWith("--");

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly {
        readonly resource: string;
        readonly singularResource: string;
        readonly shortNames?: readonly string[];
        readonly scope: "Namespaced" | "Cluster";
        readonly responseKind: { readonly kind: string };
      }[];
    }[];
  }[];
}

let known: Promise<readonly Kind[]> | undefined;

async function kindOf(name: string): Promise<Kind> {
  known ??= Promise.all(["/api", "/apis"].map(kindsBelow)).then((all) => all.flat());
  const found = (await known).find(({ names }) => names.includes(name));
  if (found === undefined) throw new Error(`the API server has no kind '${name}'`);
  return found;
}

async function kindsBelow(root: string): Promise<readonly Kind[]> {
  const { items } = await ask<Discovery>(root, DISCOVERY);
  return items.flatMap(({ metadata: { name }, versions: [preferred] }) =>
    (preferred?.resources ?? []).map(({ resource, singularResource, shortNames = [], scope, responseKind }) => ({
      kind: responseKind.kind,
      names: [resource, singularResource, ...shortNames],
      path: [root, ...(name ? [name] : []), preferred?.version].join("/"),
      plural: resource,
      isNamespaced: scope === "Namespaced",
    })),
  );
}

interface Access {
  readonly server: string;
  readonly agent: Agent;
}

let access: Access | undefined;

/** Reads as the cluster's administrator. An incomplete answer, for example of a cut connection, is requested once more. */
async function ask<T>(path: string, accept = "application/json"): Promise<T> {
  access ??= accessOf(site.kubeconfig);
  const known = access;
  const read = () => answerOf<T & { readonly message?: string }>(known, path, accept);
  const { status, body } = await read()
    .catch(read)
    .catch((cause) => {
      throw new Error(`GET ${path} had no whole answer from the API server: ${cause}`, { cause });
    });
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.message}`);
  return body;
}

async function answerOf<T>({ server, agent }: Access, path: string, accept: string) {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const requested = request(server + path, { agent, headers: { accept }, signal }).end();
  const [reply] = (await once(requested, "response")) as [IncomingMessage];
  return { status: reply.statusCode, body: (await json(reply)) as T };
}

/** Reads a kubeconfig in JSON with a client certificate. */
function accessOf(kubeconfig: string): Access {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: [{ cluster: { server: string; "certificate-authority": string } }];
    users: [{ user: { "client-certificate": string; "client-key": string } }];
  };
  const [{ cluster }, { user }] = [clusters[0], users[0]];
  const agent = new Agent({
    keepAlive: true,
    ca: readFileSync(cluster["certificate-authority"]),
    cert: readFileSync(user["client-certificate"]),
    key: readFileSync(user["client-key"]),
  });
  return { server: cluster.server, agent };
}
