import { KubeError } from "../../kit/client/errors.ts";
import { BeingDeleted, NameTaken } from "../../ports/cluster.ts";
import { DeployerUnavailable } from "../../ports/deployer.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import { CredentialRefused } from "../../repository-access/host-credentials.ts";
import { NotIsolated } from "./step.ts";
import { failed, type Unfinished, type Waiting, waiting } from "./step-result.ts";

/** Foreign objects are not watched: within 30 s this notices that a name is free again. */
const NAME_TAKEN_RECHECK_MS = 20_000;
const BEING_DELETED_RECHECK_MS = 2_000;
const UNAVAILABLE_RECHECK_MS = 5_000;
/** The secret manager is not watched. */
const CREDENTIAL_RECHECK_MS = 30_000;
/** Hosts lock out clients after too many failed logins. */
const REJECTED_RECHECK_MS = 300_000;
/** Fallback; the controller retries long before. */
const RETRY_FALLBACK_MS = 300_000;

/** Step result for an error of a port; `undefined` for any other error. */
export function errorResult(error: unknown): Unfinished | undefined {
  if (error instanceof NameTaken) {
    return failed("NameTaken", error.message, { requeueAfterMs: NAME_TAKEN_RECHECK_MS });
  }
  if (error instanceof BeingDeleted) {
    return waiting("BeingDeleted", error.message, { requeueAfterMs: BEING_DELETED_RECHECK_MS });
  }
  // Progress of the isolation enqueues the environment.
  if (error instanceof NotIsolated) return waiting(error.name, error.message, { requeueAfterMs: RETRY_FALLBACK_MS });
  const rejection = rejectionOf(error);
  if (rejection !== undefined) return { ...rejection, state: "failed" };
  const isUnavailable = [DeployerUnavailable, RepositoryHostUnavailable, SecretManagerUnavailable].some(
    (kind) => error instanceof kind,
  );
  if (!isUnavailable) return undefined;
  const { name, message } = error as Error;
  return waiting(name, message, { requeueAfterMs: UNAVAILABLE_RECHECK_MS });
}

/** Result for a refused credential where a former answer remains usable; `undefined` for any other error. */
export function waitingForCredential(error: unknown): Unfinished | undefined {
  const rejection = rejectionOf(error);
  return rejection && { ...rejection, state: "waiting" };
}

/** A refused credential stays so until the settings, the Repository, the secret manager or the host change. */
function rejectionOf(error: unknown) {
  if (error instanceof CredentialRefused) {
    return { reason: error.reason, message: error.message, requeueAfterMs: CREDENTIAL_RECHECK_MS };
  }
  if (!(error instanceof CredentialRejected)) return undefined;
  return { reason: error.name, message: error.message, requeueAfterMs: REJECTED_RECHECK_MS };
}

/** Result for any other error; the controller retries with backoff. */
export function retrying(error: unknown): Waiting {
  // Only a KubeError's message is known to be free of secrets.
  const message = error instanceof KubeError ? error.message : "an unexpected error: see the operator's log";
  return waiting("Retrying", message, { requeueAfterMs: RETRY_FALLBACK_MS });
}
