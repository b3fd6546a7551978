import { HostUnavailable, SecretsUnavailable } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { Clock } from "../kit/time/clock.ts";
import {
  type BranchHeads,
  CredentialRejected,
  type RepositoryHost,
  RepositoryHostUnavailable,
} from "../ports/repository-host.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { CredentialRefused, type CredentialSource, cloneCredential } from "./host-credentials.ts";

/**
 * Limits on concurrent calls: an answer may have 4 MiB, and every caller holds a request open. Shares per Repository
 * and host bound a silent host.
 */
const AT_ONCE = { all: 16, host: 8, repository: 4 };
const BUSY_MS = 1_000;
const UNAVAILABLE_MS = 5_000;
/** Hosts lock out clients after too many failed logins. */
const REJECTED_MS = 60_000;

/** The ports that answer for the heads of branches. */
export interface BranchHeadDependencies extends CredentialSource {
  readonly repositoryHost: RepositoryHost;
  readonly clock: Clock;
}

/** Reason for a pause of a Repository's host; a changed Repository is asked at once. */
interface Failure {
  readonly generation: number;
  readonly error: Error;
  readonly endMs: number;
}

/** BranchHeads port: every answer is fresh, for new pushes. After a failure the host is not called for a while. */
export function createBranchHeads({ repositoryHost, clock, ...source }: BranchHeadDependencies): BranchHeads {
  const failures = new Map<string, Failure>();
  const open = openCalls();

  /** Throws HostUnavailable during a pause and beyond the limits. */
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

/** Counts open calls: in total, by host and by Repository. */
function openCalls() {
  const counts = new Map<string, number>();
  const add = (key: string, change: 1 | -1) => {
    const count = (counts.get(key) ?? 0) + change;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    /** Counts one more, and returns the function that ends it; `undefined` beyond the limit. */
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

function pauseAfter(error: unknown): number | undefined {
  if (error instanceof CredentialRejected) return REJECTED_MS;
  const isUnavailable = error instanceof RepositoryHostUnavailable || error instanceof CredentialRefused;
  return isUnavailable ? UNAVAILABLE_MS : undefined;
}
