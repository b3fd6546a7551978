import { hash } from "node:crypto";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";
import { untilRolledOut } from "./tools.ts";

/** The version that the local cluster is built with, without its web interface. */
export const argoCd = {
  url: "https://raw.githubusercontent.com/argoproj/argo-cd/v3.5.7/manifests/core-install.yaml",
  sha256: "a7ab521e55a511af9274294afafc87cddf9621a34ac255b4b20cd31989e1ecbc",
} as const;

const NAMESPACE = "argocd";
const programs = [
  "deployment/argocd-redis",
  "deployment/argocd-repo-server",
  "statefulset/argocd-application-controller",
];
const FETCH_MS = 60_000;

/** Answers the text of a URL. */
export type Fetch = (url: string) => Promise<string>;

/** Fetches a text from the internet. */
export const fetchText: Fetch = async (url) => {
  const reply = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!reply.ok) throw new Error(`${url} answers ${reply.status}`);
  return reply.text();
};

/** Installs Argo CD and returns when it runs. Fails when its manifests differ from the pinned ones. */
export async function installArgoCd(user: ClusterUser, read: Fetch): Promise<void> {
  const manifests = await read(argoCd.url);
  const sha256 = hash("sha256", manifests);
  if (sha256 !== argoCd.sha256) throw new Error(`${argoCd.url} is not what is pinned: its SHA-256 is ${sha256}`);
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  await kubectl(user, ["apply", "--server-side", "--filename=-"], { input: JSON.stringify(namespace) });
  await kubectl(user, ["apply", "--server-side", `--namespace=${NAMESPACE}`, "--filename=-"], { input: manifests });
  for (const what of programs) await untilRolledOut(user, what, NAMESPACE);
}
