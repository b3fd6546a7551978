import { HostUnavailable, SecretsUnavailable } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { BranchHeads } from "../ports/facade/branch-heads.ts";
import { CredentialRejected, type RepositoryHost, RepositoryHostUnavailable } from "../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { CredentialRefused, type CredentialSource, cloneCredential } from "./host-credentials.ts";

/** An answer may have 4 MiB; more questions than that are turned away, because whoever waits holds a request open. */
const AT_ONCE = 16;
const BUSY_MS = 1_000;
const UNAVAILABLE_MS = 5_000;
/** Hosts lock out who comes with a bad login too often. */
const REJECTED_MS = 60_000;

interface Context extends CredentialSource {
  readonly repositoryHost: RepositoryHost;
  readonly clock: Clock;
}

/** Why a Repository is not asked again for a while. A changed one is asked at once. */
interface Failure {
  readonly generation: number;
  readonly error: Error;
  readonly endMs: number;
}

/**
 * The BranchHeads port on the hosts that the operator asks too. Every answer is the host's of now: a commit that was just
 * pushed counts. A failure is remembered, so that one host that hangs or refuses a login is not asked by every request.
 */
export function createBranchHeads({ repositoryHost, clock, ...vault }: Context): BranchHeads {
  const failures = new Map<string, Failure>();
  let underWay = 0;

  function checkAskable({ metadata: { uid, name, generation } }: Repository): void {
    const failure = failures.get(uid);
    const leftMs = (failure?.endMs ?? 0) - clock.monotonicMs();
    if (failure !== undefined && leftMs > 0 && failure.generation === generation) {
      throw new HostUnavailable(name, leftMs / 1000, { cause: failure.error });
    }
    failures.delete(uid);
    if (underWay >= AT_ONCE) throw new HostUnavailable(name, BUSY_MS / 1000);
  }

  return {
    async headOf(repository, branch) {
      checkAskable(repository);
      const { uid, name, generation } = repository.metadata;
      underWay += 1;
      try {
        const credential = await cloneCredential(repository, vault);
        return await repositoryHost.head(repository.spec.cloneUrl, branch, credential);
      } catch (error) {
        if (error instanceof SecretManagerUnavailable) throw new SecretsUnavailable({ cause: error });
        const pauseMs = pauseAfter(error);
        if (pauseMs === undefined) throw error;
        failures.set(uid, { generation, error: error as Error, endMs: clock.monotonicMs() + pauseMs });
        throw new HostUnavailable(name, pauseMs / 1000, { cause: error });
      } finally {
        underWay -= 1;
      }
    },
  };
}

/** For how long nobody asks again; `undefined` for what is no refusal but a failure of ours. */
function pauseAfter(error: unknown): number | undefined {
  if (error instanceof CredentialRejected) return REJECTED_MS;
  const isUnavailable = error instanceof RepositoryHostUnavailable || error instanceof CredentialRefused;
  return isUnavailable ? UNAVAILABLE_MS : undefined;
}
