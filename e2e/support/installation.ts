import { resolve } from "node:path";
import { run } from "./command.ts";
import { apply, kubectl, list, type Resource, read } from "./kubectl.ts";
import { checkout, site } from "./site.ts";
import { waitUntil } from "./wait.ts";

/** Where the platform is installed. */
export const namespace = "ephemeral-system";
const release = "platform";
const chart = resolve(checkout, "deploy/charts/platform");
const DEADLINE_MS = 180_000;
const ENDING_MS = 60_000;

/** What an installation has to know of the cluster; `deploy/local/main.ts bare` says it in variables. */
const cluster = {
  helm: variable("HELM"),
  image: variable("IMAGE"),
  digest: variable("IMAGE_DIGEST"),
  gitUrl: variable("GIT_URL"),
  ingressAddress: variable("INGRESS_ADDRESS"),
  jwksUri: variable("JWKS_URI"),
  nodeAddress: variable("NODE_ADDRESS"),
};

/** The image as the values name it by its digest. */
export const imageByDigest = `${cluster.image}@${cluster.digest}`;

/**
 * Values as a platform team writes them. The image is in the cluster's container runtime, so nothing is pulled. The
 * authority of the ingress and of the tokens' keys replaces the image's own, from a ConfigMap.
 */
export function values(more: { readonly image?: object; readonly settings?: object } = {}): object {
  const node = { ipBlock: { cidr: `${cluster.nodeAddress}/32` } };
  return {
    image: { repository: cluster.image, digest: cluster.digest, pullPolicy: "Never", ...more.image },
    operator: {
      volumes: [{ name: "authorities", configMap: { name: "authorities" } }],
      volumeMounts: [{ name: "authorities", mountPath: "/etc/ssl/certs", readOnly: true }],
    },
    settings: {
      baseDomain: "env.localhost",
      publicPort: 18443,
      ingressAddress: cluster.ingressAddress,
      defaultChart: { repoUrl: `${cluster.gitUrl}/environment-chart.git`, path: ".", revision: "main" },
      isolation: { ingressFrom: [node], dns: [node] },
      api: {
        issuers: [
          {
            ...{ issuer: "http://127.0.0.1:9400", jwksUri: cluster.jwksUri, audience: "ephemeral" },
            ...{ requiredClaims: { hd: ["example.test"] }, defaultRole: "developer" },
          },
        ],
      },
      ...more.settings,
    },
  };
}

/** Runs `helm install` or `helm upgrade` with these values until every replica is ready and the chart's check has passed. Fails with helm's own words. */
export async function deploy(command: "install" | "upgrade", given: object): Promise<void> {
  const args = [
    command,
    release,
    chart,
    "--namespace",
    namespace,
    "--values",
    "-",
    "--wait",
    "--wait-for-jobs",
    "--timeout",
    "2m",
  ];
  await helm(args, JSON.stringify(given));
}

/** Runs `helm uninstall` until the replicas are gone. With `--wait`, helm would wait for the kinds, too, which it keeps. */
export async function uninstall(): Promise<void> {
  await helm(["uninstall", release, "--namespace", namespace]);
  await replicas(0);
}

async function helm(args: readonly string[], input = ""): Promise<void> {
  const env = { KUBECONFIG: site.kubeconfig };
  const { code, stderr } = await run(cluster.helm, { args, input, env, deadlineMs: DEADLINE_MS });
  if (code !== 0) throw new Error(`helm ${args[0]} ended with ${code}: ${stderr}\n${await logs("--tail=20")}`);
}

/** What is there before the installation: the namespace, and the authority in a ConfigMap. */
export async function prepare(): Promise<void> {
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const file = `--from-file=ca-certificates.crt=${site.caFile}`;
  await kubectl("create", "configmap", "authorities", `--namespace=${namespace}`, file);
}

/** Registers the sample's repositories, at the address that pods and Argo CD share. */
export async function registerSamples(): Promise<void> {
  for (const type of ["backend", "frontend"]) {
    const name = `sample-${type}`;
    await apply({
      apiVersion: "ephemeral-environments.dev/v1",
      kind: "Repository",
      metadata: { name, namespace },
      spec: {
        ...{ type, cloneUrl: `${cluster.gitUrl}/${name}.git`, image: { repository: `docker.io/local/${name}` } },
        ...{ port: 8080, healthPath: "/healthz" },
      },
    });
  }
}

/** Where the Service `platform` answers. */
export async function serviceUrl(): Promise<string> {
  const { spec } = await read<{ spec: { clusterIP: string } }>("service", "platform", `--namespace=${namespace}`);
  return `http://${spec.clusterIP}`;
}

/** A replica, as far as the tests read it. */
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

/** The platform's pods, once there are so many: after a change, earlier ones still settle for some seconds. */
export async function replicas(count = 2): Promise<readonly Resource<Replica>[]> {
  let found = await pods();
  const check = async () => {
    found = await pods();
    return found.length === count;
  };
  await waitUntil({ what: () => `${count} replicas instead of ${found.length}`, check, deadlineMs: ENDING_MS });
  return found;
}

function pods(): Promise<readonly Resource<Replica>[]> {
  return list<Replica>("pods", `--namespace=${namespace}`, "--selector=app.kubernetes.io/name=ephemeral-environments");
}

/** The lines of every replica, behind the pod's name. */
export function logs(...options: readonly string[]): Promise<string> {
  const pods = ["--selector=app.kubernetes.io/name=ephemeral-environments", "--prefix", "--ignore-errors"];
  return kubectl("logs", `--namespace=${namespace}`, ...pods, ...options);
}

function variable(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set: run "make e2e-install"`);
}
