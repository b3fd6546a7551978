import { HostUnavailable, SecretsUnavailable } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { ControllerPorts } from "../controller-ports.ts";
import type { BranchHeads } from "../ports/facade/branch-heads.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { CredentialRefused, type CredentialSource, cloneCredential } from "./host-credentials.ts";

/**
 * An answer may have 4 MiB, and every caller holds a request open: more questions at once are refused. A Repository and a host
 * have a share of them, so that a host that is silent leaves room for the others.
 */
const AT_ONCE = { all: 16, host: 8, repository: 4 };
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
  const open = openQuestions();

  /** Throws HostUnavailable while the host is left alone, and where there is no room for a question. */
  function begin(repository: Repository): () => void {
    const { uid, name, generation } = repository.metadata;
    const failure = failures.get(uid);
    const leftMs = (failure?.endMs ?? 0) - clock.monotonicMs();
    if (failure !== undefined && leftMs > 0 && failure.generation === generation) {
      throw new HostUnavailable(name, leftMs / 1000, { cause: failure.error });
    }
    failures.delete(uid);
    const end = open.begin(repository);
    if (end === undefined) throw new HostUnavailable(name, BUSY_MS / 1000);
    return end;
  }

  return {
    async headOf(repository, branch) {
      const end = begin(repository);
      const { uid, name, generation } = repository.metadata;
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
        end();
      }
    },
  };
}

/** Counts questions that have no answer yet: in all, by host and by Repository. */
function openQuestions() {
  const counts = new Map<string, number>();
  const add = (key: string, change: 1 | -1) => {
    const count = (counts.get(key) ?? 0) + change;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    /** Counts one more, and returns the function that ends it; `undefined` where there is no room for it. */
    begin({ metadata: { uid }, spec: { cloneUrl } }: Repository): (() => void) | undefined {
      const host = URL.canParse(cloneUrl) ? new URL(cloneUrl).host : cloneUrl;
      const places = { all: "all", host: `host ${host}`, repository: `repository ${uid}` };
      const isFull = ([place, key]: [string, string]) =>
        (counts.get(key) ?? 0) >= AT_ONCE[place as keyof typeof AT_ONCE];
      if (Object.entries(places).some(isFull)) return undefined;
      for (const key of Object.values(places)) add(key, 1);
      return () => {
        for (const key of Object.values(places)) add(key, -1);
      };
    },
  };
}

/** How long the host is not asked again; `undefined` for an error that is not the host's. */
function pauseAfter(error: unknown): number | undefined {
  if (error instanceof CredentialRejected) return REJECTED_MS;
  const isUnavailable = error instanceof RepositoryHostUnavailable || error instanceof CredentialRefused;
  return isUnavailable ? UNAVAILABLE_MS : undefined;
}
