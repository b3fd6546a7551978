import { setTimeout as pause } from "node:timers/promises";
import { creation, find } from "./environments.ts";
import { kubectl, list, waitFor } from "./kubectl.ts";
import { open, type Page } from "./page.ts";
import { platform } from "./platform.ts";

/** The seeds of the local cluster; each has 41 visits. */
export const seedOf = (file: string) => ({
  image: "docker.io/local/seed:1",
  path: `/seed/${file}`,
  format: file.endsWith(".dump") ? ("dump" as const) : ("sql" as const),
});
/** A seed in the repository of the local cluster's backend. */
export const seedInGit = (file: string) => ({ git: "backend", path: `/seed/${file}`, format: "sql" }) as const;
/** Count of visits that the first one is answered with, after such a seed. */
export const FIRST_VISITOR = 42;

/** Flag of kubectl for the namespace of an environment. */
export const inNamespace = (name: string) => `--namespace=env-${name}`;
/** Merges into the spec of an environment. */
export const patchSpec = (name: string, spec: object) =>
  kubectl("patch", "eenv", name, "--type=merge", `--patch=${JSON.stringify({ spec })}`);
/** Waits until the database has that reason. */
export const databaseIs = (name: string, reason: string, seconds = 90) =>
  waitFor(
    [`--for=jsonpath={.status.conditions[?(@.type=="DatabaseReady")].reason}=${reason}`, `eenv/${name}`],
    seconds,
  );

/** The condition of its database. */
export async function databaseCondition(name: string) {
  const { status } = await find(name);
  return status?.conditions?.find(({ type }) => type === "DatabaseReady");
}

type Seed = ReturnType<typeof seedOf | typeof seedInGit>;

/** Creates an environment of a backend with a seeded database, and answers its id. */
export async function createSeeded(name: string, seed: Seed): Promise<string> {
  const { frontend_repo: _, frontend_branch: __, ...backendOnly } = creation(name);
  const body = { ...backendOnly, provision_database: true, database_seed: seed };
  return (await platform.call("POST /api/v2/environments", { body })).environment.id;
}

/** The backend's reply about its database: it logs in with its DATABASE_URL and counts its visits. */
export const counter = (name: string): Promise<Page> => open(`https://${name}--api.env.localhost:18443/database`);

/** Waits until the backend reaches its database, and answers its count of visits, this one among them. */
export async function visits(name: string): Promise<number> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    // An ingress may still route to a removed pod and wait for its answer: such a visit is not counted.
    const { status, body } = await counter(name).catch(
      ({ message }: Error): Page => ({ status: undefined, body: message }),
    );
    if (status === 200) return (JSON.parse(body) as { visits: number }).visits;
    if (Date.now() > deadline) throw new Error(`'${name}' has not reached its database: ${status} ${body}`);
    await pause(200);
  }
}

/** Objects of these kinds in the namespace of an environment, each as kind and name, sorted. */
export const objectsIn = async (name: string, kinds: string) =>
  (await list(kinds, inNamespace(name))).map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
