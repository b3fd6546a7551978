import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "./command.ts";
import { site } from "./site.ts";

const DEADLINE_MS = 30_000;

/** A Helm repository and an OCI registry on loopback, by https. */
export interface ChartHost {
  readonly helm: string;
  readonly oci: string;
  /** Packs the chart, with its dependencies, at that version, and publishes it at one place. */
  publish(place: "helm" | "oci", chart: string, version: string): Promise<void>;
  stop(): Promise<void>;
}

interface Answer {
  readonly type: string;
  readonly body: Buffer;
}

/** Runs the local cluster's helm, which is beside its kubectl and trusts the local authority. */
export async function helm(...args: readonly string[]): Promise<void> {
  const program = join(dirname(site.kubectl), "helm");
  const home = await mkdtemp(join(tmpdir(), "e2e-helm-"));
  try {
    const env = { SSL_CERT_FILE: site.caFile, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
    const { code, stderr } = await run(program, { args, env, deadlineMs: DEADLINE_MS });
    if (code !== 0) throw new Error(`helm ${args.join(" ")} ended with ${code}: ${stderr}`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

interface Guard {
  /** `user:password`, without which nothing is answered. */
  readonly login: string;
  readonly port: number;
}

/** Starts both; what they hold is gone with them. Without a guard everybody may read them, at a free port. */
export async function startChartHost({ login, port }: Partial<Guard> = {}): Promise<ChartHost> {
  const folder = await mkdtemp(join(tmpdir(), "e2e-charts-"));
  const pair = await certificate(folder);
  const answers = new Map<string, Answer>();
  const expected = login && `Basic ${Buffer.from(login).toString("base64")}`;
  const server = createServer(pair, (requested, reply) => {
    if (expected === undefined || requested.headers.authorization === expected) answer(answers, requested, reply);
    else reply.writeHead(401, { "www-authenticate": 'Basic realm="charts"' }).end();
  });
  await once(server.listen(port ?? 0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const urls = { helm: `https://${host}/charts`, oci: `oci://${host}/charts` };
  answers.set("/v2/", { type: "application/json", body: Buffer.from("{}") });
  return {
    ...urls,
    async publish(place, chart, version) {
      const target = join(folder, place);
      await mkdir(target, { recursive: true });
      await helm("package", chart, "--version", version, "--dependency-update", "--destination", target);
      await (place === "helm" ? publishHelm(answers, target, urls.helm) : publishOci(answers, target));
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function answer(answers: ReadonlyMap<string, Answer>, { url = "" }: IncomingMessage, reply: ServerResponse): void {
  const { type, body } = answers.get(url) ?? {};
  if (type === undefined || body === undefined) {
    reply.writeHead(404).end();
    return;
  }
  const headers = { "content-type": type, "content-length": body.length, "docker-content-digest": digestOf(body) };
  reply.writeHead(200, headers).end(body);
}

async function certificate(folder: string): Promise<{ readonly key: string; readonly cert: string }> {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", key];
  const names = ["-subj", "/CN=charts", "-addext", "subjectAltName=IP:127.0.0.1"];
  const signer = ["-CA", site.caFile, "-CAkey", join(dirname(site.caFile), "ca.key")];
  const args = ["req", "-x509", ...newKey, "-out", cert, "-days", "2", ...names, ...signer];
  const { code, stderr } = await run("openssl", { args, deadlineMs: DEADLINE_MS });
  if (code !== 0) throw new Error(`openssl ended with ${code}: ${stderr}`);
  return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
}

/** https://helm.sh/docs/topics/chart_repository/ */
async function publishHelm(answers: Map<string, Answer>, folder: string, url: string): Promise<void> {
  await helm("repo", "index", folder, "--url", url);
  for (const file of await readdir(folder)) {
    answers.set(`/charts/${file}`, { type: "application/octet-stream", body: await readFile(join(folder, file)) });
  }
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.cncf.helm.config.v1+json";
const CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/** https://helm.sh/docs/topics/registries/, https://github.com/opencontainers/distribution-spec/blob/main/spec.md */
async function publishOci(answers: Map<string, Answer>, folder: string): Promise<void> {
  for (const file of await readdir(folder)) {
    const [, name = "", version = ""] = /^(.+)-([0-9].*)[.]tgz$/.exec(file) ?? [];
    const place = `/v2/charts/${name}`;
    const blob = (mediaType: string, body: Buffer) => {
      const digest = digestOf(body);
      answers.set(`${place}/blobs/${digest}`, { type: "application/octet-stream", body });
      return { mediaType, digest, size: body.length };
    };
    const config = blob(CONFIG, Buffer.from(JSON.stringify({ apiVersion: "v2", name, version })));
    const layers = [blob(CONTENT, await readFile(join(folder, file)))];
    const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers };
    const body = Buffer.from(JSON.stringify(manifest));
    for (const reference of [version, digestOf(body)]) {
      answers.set(`${place}/manifests/${reference}`, { type: MANIFEST, body });
    }
  }
}

const digestOf = (body: Buffer) => `sha256:${createHash("sha256").update(body).digest("hex")}`;
