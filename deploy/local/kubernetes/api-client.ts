import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";
import { parseAllDocuments } from "yaml";
import type { KeyPair } from "./pki.ts";

/** The address of an API server, and credentials for it. */
export interface ApiAccess {
  /** Address, for example `https://127.0.0.1:6443`. */
  readonly url: string;
  /** The PEM file of the authority that signed its certificate. */
  readonly caFile: string;
  readonly token?: string;
  readonly clientCertificate?: KeyPair;
}

/** A Kubernetes object, as far as the cluster's setup uses it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** The few calls of the cluster's setup; each takes a thousandth of the time of starting kubectl. */
export interface ApiClient {
  /** Sends one request, a text as it is; the caller judges the status. Fails without a reply within 10 s. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: string }>;
  /** The object's JSON, or undefined when it does not exist. Fails on any other error. */
  find(path: string): Promise<Record<string, unknown> | undefined>;
  /** Server-side apply of one object; fails when the API server refuses it, or for a kind without a known path. */
  apply(manifest: Manifest): Promise<void>;
  /** Server-side apply of one object in YAML, which the API server parses much faster than we do. */
  applyText(object: Pick<Manifest, "kind" | "metadata">, yaml: string): Promise<void>;
  close(): void;
}

/** Connects on first use and keeps its connections; `close` drops them. */
export function apiClient(access: ApiAccess): ApiClient {
  const { certificate, key } = access.clientCertificate ?? {};
  const own = certificate && key ? { cert: readFileSync(certificate), key: readFileSync(key) } : {};
  const agent = new Agent({ keepAlive: true, ca: readFileSync(access.caFile), ...own });
  const call: ApiClient["call"] = async (method, path, body) => {
    const headers = headersOf(access, method, body !== undefined);
    const options = { agent, method, headers, signal: AbortSignal.timeout(10_000) };
    const outgoing = request(new URL(path, access.url), options);
    outgoing.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    return { status: incoming.statusCode ?? 0, body: await text(incoming) };
  };
  const apply = async (object: Pick<Manifest, "kind" | "metadata">, body: unknown) => {
    const path = `${pathOf(object)}?fieldManager=local-cluster&force=true`;
    refuse(await call("PATCH", path, body), `apply ${object.kind} ${object.metadata.name}`);
  };
  return {
    call,
    async find(path) {
      const reply = await call("GET", path);
      if (reply.status === 404) return undefined;
      refuse(reply, `GET ${path}`);
      return JSON.parse(reply.body);
    },
    apply: (manifest) => apply(manifest, manifest),
    applyText: apply,
    close: () => agent.destroy(),
  };
}

/**
 * Objects of a YAML text with one or more documents, read by Kubernetes' rules (1.1: `on` is no text). Fails on broken YAML.
 */
export function parseManifests(yaml: string): Manifest[] {
  return parseAllDocuments(yaml, { version: "1.1" }).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0];
    const manifest = document.toJS() as Manifest | null;
    return manifest ? [manifest] : [];
  });
}

const collections: Readonly<Record<string, string>> = {
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  ConfigMap: "/api/v1/namespaces/{namespace}/configmaps",
  CustomResourceDefinition: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  EndpointSlice: "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
  FlowSchema: "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
  Ingress: "/apis/networking.k8s.io/v1/namespaces/{namespace}/ingresses",
  IngressClass: "/apis/networking.k8s.io/v1/ingressclasses",
  MutatingAdmissionPolicy: "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
  MutatingAdmissionPolicyBinding: "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
  Namespace: "/api/v1/namespaces",
  PriorityLevelConfiguration: "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
  Repository: "/apis/ephemeral-environments.dev/v1/namespaces/{namespace}/repositories",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
  Secret: "/api/v1/namespaces/{namespace}/secrets",
  Service: "/api/v1/namespaces/{namespace}/services",
  ServiceAccount: "/api/v1/namespaces/{namespace}/serviceaccounts",
  StorageClass: "/apis/storage.k8s.io/v1/storageclasses",
  ValidatingAdmissionPolicy: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
};

/** The URL path of an object of a kind that the setup uses. */
export function pathOf({ kind, metadata }: Pick<Manifest, "kind" | "metadata">): string {
  const collection = collections[kind];
  if (!collection) throw new Error(`no path is known for the kind ${kind}`);
  return `${collection.replace("{namespace}", metadata.namespace ?? "default")}/${metadata.name}`;
}

function headersOf({ token }: ApiAccess, method: string, hasBody: boolean): Record<string, string> {
  // JSON is YAML, and server-side apply requires this type.
  const type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
  return { ...(token && { authorization: `Bearer ${token}` }), ...(hasBody && { "content-type": type }) };
}

function refuse(reply: { status: number; body: string }, what: string): void {
  if (reply.status >= 300) throw new Error(`${what} was answered ${reply.status}: ${reply.body.slice(0, 500)}`);
}
