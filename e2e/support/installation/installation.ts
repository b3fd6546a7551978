import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Outcome, run } from "../command.ts";
import { apply, read } from "../kubectl.ts";
import { checkout, site } from "../site.ts";
import { logs, namespace, replicas } from "./replicas.ts";

const release = "platform";
const chart = resolve(checkout, "deploy/charts/platform");
const DEADLINE_MS = 180_000;

/** Facts about the cluster for an installation, from the variables of `deploy/local/main.ts bare`. */
const cluster = {
  helm: variable("HELM"),
  image: variable("IMAGE"),
  digest: variable("IMAGE_DIGEST"),
  gitUrl: variable("GIT_URL"),
  ingressAddress: variable("INGRESS_ADDRESS"),
  jwksUri: variable("JWKS_URI"),
  nodeAddress: variable("NODE_ADDRESS"),
};

/** The image by digest, as in the values. */
export const imageByDigest = `${cluster.image}@${cluster.digest}`;

/**
 * Values as a platform team would write them. The image is already in the cluster's container runtime, so nothing is pulled.
 * A ConfigMap with the authority of the ingress and of the tokens' keys replaces the image's own.
 */
export function values(
  more: { readonly image?: object; readonly settings?: object; readonly api?: object } = {},
): object {
  const node = { ipBlock: { cidr: `${cluster.nodeAddress}/32` } };
  const files = {
    volumes: [{ name: "authorities", configMap: { name: "authorities" } }],
    volumeMounts: [{ name: "authorities", mountPath: "/etc/ssl/certs", readOnly: true }],
  };
  return {
    image: { repository: cluster.image, digest: cluster.digest, pullPolicy: "Never", ...more.image },
    operator: files,
    gate: { ...files, enabled: true, ingress: { enabled: true } },
    settings: {
      baseDomain: "env.localhost",
      publicPort: 18443,
      ingressAddress: cluster.ingressAddress,
      defaultChart: { repoUrl: `${cluster.gitUrl}/environment-chart.git`, path: ".", revision: "main" },
      isolation: { ingressFrom: [node], dns: [node] },
      api: {
        issuers: [
          {
            issuer: "http://127.0.0.1:9400",
            jwksUri: cluster.jwksUri,
            audience: "ephemeral",
            requiredClaims: { hd: ["example.test"] },
            defaultRole: "developer",
          },
        ],
        ...more.api,
      },
      ...more.settings,
    },
  };
}

/**
 * Runs `helm install` or `helm upgrade` with these values until every replica is ready and the chart's check has passed.
 * Fails with helm's message.
 */
export async function deploy(
  command: "install" | "upgrade",
  given: object,
  ...flags: readonly string[]
): Promise<void> {
  await succeed(deployment(command, flags), given);
}

/** helm's error for an upgrade to these values. */
export function refusedUpgrade(given: object): Promise<string> {
  return refused(deployment("upgrade", []), given);
}

function deployment(command: string, flags: readonly string[]): readonly string[] {
  return [command, release, chart, "--values=-", "--wait", "--wait-for-jobs", "--timeout=2m", ...flags];
}

/**
 * Installs the platform with these values, whatever another test file has left, and registers the sample's repositories.
 * Afterwards `ask` reaches its Service.
 */
export async function installed(given: object): Promise<void> {
  await prepare();
  await deploy("upgrade", given, "--install");
  await reachService();
  await registerSamples();
}

/** Lets `ask` reach the Service, whose address changes with each installation. */
export async function reachService(): Promise<void> {
  const { spec } = await read<{ spec: { clusterIP: string } }>("service", "platform", `--namespace=${namespace}`);
  process.env.API_URL = `http://${spec.clusterIP}`;
}

/** Runs `helm uninstall` until the replicas are gone. With `--wait`, helm would wait for the kinds, too, which it keeps. */
export async function uninstall(...flags: readonly string[]): Promise<void> {
  await succeed(["uninstall", release, ...flags]);
  await replicas(0);
}

/** The errors of helm and of the chart's Job when the platform can't be uninstalled. */
export function refusedRemoval(): Promise<string> {
  return refused(["uninstall", release]);
}

async function succeed(args: readonly string[], given?: object): Promise<void> {
  const { code, stdout, stderr } = await helm(args, given);
  if (code === 0) return;
  throw new Error(`helm ${args[0]} ended with ${code}: ${stdout}${stderr}\n${await logs("--tail=20")}`);
}

async function refused(args: readonly string[], given?: object): Promise<string> {
  const { code, stdout, stderr } = await helm(args, given);
  if (code === 0) throw new Error(`helm ${args[0]} was not refused: ${stdout}`);
  return stdout + stderr;
}

function helm(args: readonly string[], given: object = {}): Promise<Outcome> {
  const env = { KUBECONFIG: site.kubeconfig };
  const all = [...args, "--namespace", namespace];
  return run(cluster.helm, { args: all, input: JSON.stringify(given), env, deadlineMs: DEADLINE_MS });
}

/** Creates the prerequisites of the installation: the namespace, and the authority in a ConfigMap. */
export async function prepare(): Promise<void> {
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const data = { "ca-certificates.crt": readFileSync(site.caFile, "utf8") };
  await apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "authorities", namespace }, data });
}

async function registerSamples(): Promise<void> {
  for (const type of ["backend", "frontend"]) {
    const name = `sample-${type}`;
    await apply({
      apiVersion: "ephemeral-environments.dev/v1",
      kind: "Repository",
      metadata: { name, namespace },
      spec: {
        type,
        cloneUrl: `${cluster.gitUrl}/${name}.git`,
        image: { repository: `docker.io/local/${name}` },
        port: 8080,
        healthPath: "/healthz",
      },
    });
  }
}

function variable(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set: run "make e2e-install"`);
}
