import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../build/run.ts";
import type { ReleasePrograms } from "./programs.ts";

/** Something in a registry, which its digest can't be moved from. */
export interface Artifact {
  /** Name without tag and digest. */
  readonly name: string;
  /** `sha256:…` */
  readonly digest: string;
}

const DEADLINE_MS = 10 * 60_000;

/** A registry of OCI artifacts, with credentials. */
export interface Registry {
  /** The host and prefix of names, as in `registry.example.com/team`. Loopback is used without TLS. */
  readonly prefix: string;
  /** Default: the caller's own Docker configuration. */
  readonly credentials?: { readonly user: string; readonly password: string };
}

interface Place {
  readonly name: string;
  readonly version: string;
}

/** Calls to a registry. Every method fails with the called program's message. */
export interface RegistryCalls {
  pushImage(layout: string, place: Place): Promise<Artifact>;
  /** Pushes a chart's archive; its own name and version end the place. */
  pushChart(file: string, place: Place): Promise<Artifact>;
  /** Calls cosign with these credentials; answers its output. */
  cosign(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  readonly cosignOptions: readonly string[];
}

/** Calls to that registry. Credentials are in a file below `work`, never among arguments. */
export async function registryCalls(
  registry: Registry,
  programs: ReleasePrograms,
  work: string,
): Promise<RegistryCalls> {
  const env = { ...process.env, ...(await credentialVariables(registry, work)) };
  const isPlain = /^(127\.0\.0\.1|localhost)(:\d+)?\//.test(`${registry.prefix}/`);
  const call = (program: string, args: readonly string[], more = {}) =>
    run(program, args, { env: { ...env, ...more }, deadlineMs: DEADLINE_MS });
  const crane = (...args: string[]) => call(programs.crane, args);
  const found = async ({ name, version }: Place): Promise<Artifact> => {
    return { name, digest: (await crane("digest", `${name}:${version}`)).trim() };
  };
  return {
    async pushImage(layout, place) {
      await crane("push", layout, `${place.name}:${place.version}`);
      return found(place);
    },
    async pushChart(file, place) {
      const parent = `oci://${place.name.slice(0, place.name.lastIndexOf("/"))}`;
      await call(programs.helm, ["push", file, parent, ...(isPlain ? ["--plain-http"] : [])]);
      return found(place);
    },
    cosign: (args, more) => call(programs.cosign, args, more),
    cosignOptions: isPlain ? ["--allow-http-registry"] : [],
  };
}

async function credentialVariables({ prefix, credentials }: Registry, work: string): Promise<Record<string, string>> {
  if (!credentials) return {};
  const [host = ""] = prefix.split("/");
  const auth = Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64");
  const file = join(work, "config.json");
  await writeFile(file, JSON.stringify({ auths: { [host]: { auth } } }), { mode: 0o600 });
  return { DOCKER_CONFIG: work, HELM_REGISTRY_CONFIG: file };
}
