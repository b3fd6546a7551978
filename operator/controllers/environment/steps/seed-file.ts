import { findCondition } from "../../../../crds/conditions.ts";
import { madeGeneration } from "../../../../crds/environment/database-generation.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../crds/present.ts";
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
  /** The environment as the cache has it, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
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
  pending: PendingLoad,
  context: SeedFileSources & StepContext,
): Promise<Unfinished | undefined> {
  const { file } = pending;
  if (file === undefined) return pending.obstacle;
  const known = environment.status?.database?.file;
  if (known?.load === file.load && isNamed(environment, file, context)) {
    return storedFile(environment, { file, known, pending }, context);
  }
  if (known?.load !== file.load) await removeFormer(environment, context.cluster);
  return goingOn(pending, fileFinding(environment, file));
}

/** A load that the status names. */
interface NamedLoad {
  readonly file: LoadFile;
  readonly known: SeedFile;
  readonly pending: PendingLoad;
}

async function storedFile(
  environment: EphemeralEnvironment,
  { file, known, pending }: NamedLoad,
  context: SeedFileSources & StepContext,
): Promise<Unfinished | undefined> {
  const former = known.stored ? undefined : formerRefusal(environment);
  if (former !== undefined) return former;
  const ref = refIn(environment, file.secret);
  if ((await context.cluster.read(environment.metadata, secretKind, ref)) === undefined) {
    const content = await contentOf(file, context);
    // A load whose file is lost for good makes way for that of another commit.
    if ("state" in content) return withFindings(withWayBack(content, environment), fileFinding(environment, file));
    await whenIsolated(context);
    await context.cluster.ensure(environment.metadata, secretKind, seedSecretObject(environment, file, content));
  }
  return known.stored ? undefined : goingOn(pending, fileFinding(environment, { ...known, stored: true }));
}

/** True when the status that the API server has names the load; a draft may be lost. */
function isNamed(
  { metadata }: EphemeralEnvironment,
  { load }: LoadFile,
  { environment: find }: SeedFileSources,
): boolean {
  return find(metadata.name)?.status?.database?.file?.load === load;
}

/** @throws BeingDeleted until the Secret of the load that the status names is gone */
async function removeFormer(environment: EphemeralEnvironment, cluster: Cluster): Promise<void> {
  const left = await removeSecret(environment, cluster);
  if (left.state === "removing") throw new BeingDeleted(left.message);
}

/** The findings are stored before anything relies on them. */
function goingOn(pending: PendingLoad, findings: Findings): Unfinished {
  const { reason, message } = pending.obstacle ?? pending;
  return withFindings(waiting(reason, message, { requeueAfterMs: NEXT_MS, persistFirst: true }), findings);
}

function fileFinding(environment: EphemeralEnvironment, { load, commit, stored }: SeedFile): Findings {
  const made = madeGeneration(environment) !== undefined;
  return { database: { made, ...environment.status?.database, file: { load, commit, ...present({ stored }) } } };
}

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
