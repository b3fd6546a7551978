import { findCondition } from "../../../../crds/conditions.ts";
import { madeGeneration } from "../../../../crds/environment/database-generation.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../../crds/environment/ephemeral-environment.ts";
import { SEED_SECRET_TYPE, type SeedFile } from "../../../../crds/seed.schema.ts";
import { secretKind } from "../../../kit/client/kinds.ts";
import { BeingDeleted, type Cluster, type DesiredObject, type Removal } from "../../../ports/cluster.ts";
import { FileUnreadable, type RepositoryFiles } from "../../../ports/repository-host.ts";
import { type CredentialSource, cloneCredential } from "../../../repository-access/host-credentials.ts";
import type { LoadFile, PendingLoad } from "../backing-services/backing-service.ts";
import { loadName, withWayBack } from "../backing-services/first-data.ts";
import { inNamespace, refIn } from "../desired/namespace.ts";
import type { StepContext } from "../step.ts";
import { type Findings, failed, type Unfinished, waiting, withFindings } from "../step-result.ts";
import { whenIsolated } from "./isolation.ts";

/** Key in the Secret, of the chart's `seed.yaml`. */
const SEED_KEY = "seed";

/** Ports that the file of a seed is read and stored with. */
export interface SeedFileSources extends CredentialSource {
  readonly cluster: Cluster;
  readonly repositoryFiles: RepositoryFiles;
}

/** The next reconcile goes on at once. */
const NEXT_MS = 1;

/**
 * Ensures the Secret with the file of a seed in git; `undefined` once it is there, and the status says so. It is read once for
 * each load.
 *
 * The status names the load before its Secret is made: after a crash it is known what may be left.
 *
 * @throws NotIsolated, BeingDeleted; RepositoryHostUnavailable, CredentialRejected, CredentialRefused,
 * SecretManagerUnavailable; errors of the cluster
 */
export async function ensureSeedFile(
  environment: EphemeralEnvironment,
  { file, obstacle }: PendingLoad,
  context: SeedFileSources & StepContext,
): Promise<Unfinished | undefined> {
  if (file === undefined) return obstacle;
  const known = environment.status?.database?.file;
  if (known?.load !== file.load) return nextLoad(environment, file, { obstacle, cluster: context.cluster });
  const former = known.stored ? undefined : formerRefusal(environment);
  if (former !== undefined) return former;
  const ref = refIn(environment, file.secret);
  if ((await context.cluster.read(environment.metadata, secretKind, ref)) === undefined) {
    const content = await contentOf(file, context);
    if ("state" in content) return withWayBack(content, environment);
    await whenIsolated(context);
    await context.cluster.ensure(environment.metadata, secretKind, seedSecretObject(environment, file, content));
  }
  const stored = databaseWith(environment, { ...known, stored: true });
  return known.stored ? undefined : obstacle && withFindings({ ...obstacle, requeueAfterMs: NEXT_MS }, stored);
}

/** Names the load in the status, once the Secret of another one is gone. */
async function nextLoad(
  environment: EphemeralEnvironment,
  { load, commit }: LoadFile,
  { obstacle, cluster }: { readonly obstacle: Unfinished | undefined; readonly cluster: Cluster },
): Promise<Unfinished | undefined> {
  const left = await removeSecret(environment, cluster);
  if (left.state === "removing") throw new BeingDeleted(left.message);
  const message = obstacle?.message ?? "";
  const named = waiting("ReadingSeed", message, { requeueAfterMs: NEXT_MS, persistFirst: true });
  return withFindings(named, databaseWith(environment, { load, commit }));
}

const databaseWith = (environment: EphemeralEnvironment, file: SeedFile): Findings => ({
  database: { made: madeGeneration(environment) !== undefined, ...environment.status?.database, file },
});

const REFUSED = { absent: "SeedNotFound", unsuitable: "SeedUnsuitable" } as const;

/** A commit never changes: its file is read again only on request. */
function formerRefusal(environment: EphemeralEnvironment): Unfinished | undefined {
  const { reason = "", message = "" } = findCondition(environment.status?.conditions, "DatabaseReady") ?? {};
  const isRefused = Object.values<string>(REFUSED).includes(reason);
  return isRefused && !isReconcileRequested(environment) ? failed(reason, message) : undefined;
}

/** The file, or why it can't be had from this commit. */
async function contentOf(
  { repository, commit, path }: LoadFile,
  context: SeedFileSources,
): Promise<Buffer | Unfinished> {
  try {
    const credential = await cloneCredential(repository, context);
    return await context.repositoryFiles.file(repository.spec.cloneUrl, { commit, path }, credential);
  } catch (error) {
    if (!(error instanceof FileUnreadable)) throw error;
    const place = `Repository '${repository.metadata.name}' ${error.message} (commit ${commit.slice(0, 8)})`;
    const remedy =
      error.reason === "absent"
        ? "give the environment a commit that has it, or correct database.seed"
        : "put it into an image (database.seed.image)";
    return failed(REFUSED[error.reason], `${place}: ${remedy}`);
  }
}

/** Immutable: another load has another Secret. */
function seedSecretObject(environment: EphemeralEnvironment, { secret }: LoadFile, content: Buffer): DesiredObject {
  const data = { [SEED_KEY]: content.toString("base64") };
  return inNamespace(environment, secretKind, secret, { type: SEED_SECRET_TYPE, immutable: true, data });
}

/** Removes the file of a load that is over; the status forgets it afterwards. */
export async function removeSeedFile(environment: EphemeralEnvironment, cluster: Cluster): Promise<Findings> {
  const { database } = environment.status ?? {};
  if (database?.file === undefined) return {};
  const { state } = await removeSecret(environment, cluster);
  const { file, ...rest } = database;
  return state === "gone" ? { database: rest } : {};
}

async function removeSecret({ metadata, status }: EphemeralEnvironment, cluster: Cluster): Promise<Removal> {
  const { file } = status?.database ?? {};
  if (file === undefined) return { state: "gone" };
  return cluster.remove(metadata, secretKind, refIn({ metadata }, loadName(file.load)));
}
