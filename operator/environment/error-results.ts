import { KubeError } from "../kit/client/errors.ts";
import { BeingDeleted, NameTaken } from "../ports/cluster.ts";
import { DeployerUnavailable } from "../ports/deployer.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { CredentialRefused } from "../repository/host-credentials.ts";
import { failed, NotIsolated, type Unfinished, waiting } from "./step.ts";

/** Nobody watches what is not ours: whether a taken name is free again has to be asked, so that it is used within 30 s. */
const NAME_TAKEN_RECHECK_MS = 20_000;
const BEING_DELETED_RECHECK_MS = 2_000;
const UNAVAILABLE_RECHECK_MS = 5_000;
/** Nobody watches the secret manager. */
const CREDENTIAL_RECHECK_MS = 30_000;
/** Hosts lock out who comes with a bad login too often. */
const REJECTED_RECHECK_MS = 300_000;
/** The controller retries long before. */
const RETRY_NET_MS = 300_000;

/** What a port's refusal means for a step; `undefined` for what is no refusal but a failure. */
export function errorResult(error: unknown): Unfinished | undefined {
  if (error instanceof NameTaken)
    return { ...failed("NameTaken", error.message), requeueAfterMs: NAME_TAKEN_RECHECK_MS };
  if (error instanceof BeingDeleted) {
    return waiting("BeingDeleted", error.message, { requeueAfterMs: BEING_DELETED_RECHECK_MS });
  }
  // What the isolation waits for brings the next pass.
  if (error instanceof NotIsolated) return waiting(error.name, error.message, { requeueAfterMs: RETRY_NET_MS });
  const rejection = rejectionOf(error);
  if (rejection !== undefined) return { ...rejection, state: "failed" };
  const isUnavailable = [DeployerUnavailable, RepositoryHostUnavailable, SecretManagerUnavailable].some(
    (kind) => error instanceof kind,
  );
  if (!isUnavailable) return undefined;
  const { name, message } = error as Error;
  return waiting(name, message, { requeueAfterMs: UNAVAILABLE_RECHECK_MS });
}

/** What the refusal of a credential means where what is known already will do meanwhile; `undefined` for anything else. */
export function delayOf(error: unknown): Unfinished | undefined {
  const rejection = rejectionOf(error);
  return rejection && { ...rejection, state: "waiting" };
}

type Rejection = Pick<Unfinished, "reason" | "message"> & { readonly requeueAfterMs: number };

/** Of a credential it is final until the settings, the Repository, the secret manager or the host say something else. */
function rejectionOf(error: unknown): Rejection | undefined {
  if (error instanceof CredentialRefused) {
    return { reason: error.reason, message: error.message, requeueAfterMs: CREDENTIAL_RECHECK_MS };
  }
  if (!(error instanceof CredentialRejected)) return undefined;
  return { reason: error.name, message: error.message, requeueAfterMs: REJECTED_RECHECK_MS };
}

/** What any other error means: the controller decides when to try again, and the operator's log has the rest. */
export function retrying(error: unknown): Unfinished {
  // Only a KubeError's message is known to hold nothing that must not be shown.
  const message = error instanceof KubeError ? error.message : "an unexpected error: see the operator's log";
  return waiting("Retrying", message, { requeueAfterMs: RETRY_NET_MS });
}
