import { HostUnavailable, SecretsUnavailable } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { ControllerPorts } from "../controller-ports.ts";
import type { BranchHeads } from "../ports/facade/branch-heads.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { CredentialRefused, type CredentialSource, cloneCredential } from "./host-credentials.ts";

/** An answer may have 4 MiB, and every caller holds a request open: more questions at once are refused. */
const AT_ONCE = 16;
const BUSY_MS = 1_000;
const UNAVAILABLE_MS = 5_000;
/** Hosts lock out clients after too many bad logins. */
const REJECTED_MS = 60_000;

type Context = CredentialSource & Pick<ControllerPorts, "repositoryHost" | "clock">;

/** Why the host of a Repository is not asked for a while; a changed Repository is asked at once. */
interface Failure {
  readonly generation: number;
  readonly error: Error;
  readonly endMs: number;
}

/**
 * The BranchHeads port. Every answer comes fresh from the host, so a commit that was just pushed is found. A failure is
 * remembered, so a host that hangs or rejects a login is not asked for every request.
 */
export function createBranchHeads({ repositoryHost, clock, ...source }: Context): BranchHeads {
  const failures = new Map<string, Failure>();
  let running = 0;

  function checkAvailable({ metadata: { uid, name, generation } }: Repository): void {
    const failure = failures.get(uid);
    const leftMs = (failure?.endMs ?? 0) - clock.monotonicMs();
    if (failure !== undefined && leftMs > 0 && failure.generation === generation) {
      throw new HostUnavailable(name, leftMs / 1000, { cause: failure.error });
    }
    failures.delete(uid);
    if (running >= AT_ONCE) throw new HostUnavailable(name, BUSY_MS / 1000);
  }

  return {
    async headOf(repository, branch) {
      checkAvailable(repository);
      const { uid, name, generation } = repository.metadata;
      running += 1;
      try {
        const credential = await cloneCredential(repository, source);
        return await repositoryHost.head(repository.spec.cloneUrl, branch, credential);
      } catch (error) {
        if (error instanceof SecretManagerUnavailable) throw new SecretsUnavailable({ cause: error });
        const pauseMs = pauseAfter(error);
        if (pauseMs === undefined) throw error;
        failures.set(uid, { generation, error: error as Error, endMs: clock.monotonicMs() + pauseMs });
        throw new HostUnavailable(name, pauseMs / 1000, { cause: error });
      } finally {
        running -= 1;
      }
    },
  };
}

/** How long the host is not asked again; `undefined` for an error that is not the host's. */
function pauseAfter(error: unknown): number | undefined {
  if (error instanceof CredentialRejected) return REJECTED_MS;
  const isUnavailable = error instanceof RepositoryHostUnavailable || error instanceof CredentialRefused;
  return isUnavailable ? UNAVAILABLE_MS : undefined;
}
