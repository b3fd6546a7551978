import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import type { Clock } from "../../../operator/kit/time/clock.ts";
import type { Repositories } from "../../../operator/ports/repositories.ts";
import type { ProbeResult, UrlProber } from "../../../operator/ports/url-prober.ts";

/** Results of an environment's URLs. */
export interface UrlCheck {
  /** An absent component has no URL yet. */
  readonly results: { readonly [component in Component]?: ProbeResult };
  /** Further hosts, in the order of the status. */
  readonly hosts: readonly { readonly name: string; readonly url: string; readonly result: ProbeResult }[];
  readonly checkedAt: Date;
}

/** Probes the URLs in an environment's status, and no others. */
export interface UrlChecks {
  /**
   * Probes all at once; each URL at most once in 10 seconds for all callers together.
   *
   * @throws ClusterUnavailable while the Repositories' paths are unknown
   */
  check(environment: EphemeralEnvironment): Promise<UrlCheck>;
}

interface Parts {
  readonly prober: UrlProber;
  readonly repositories: Repositories;
  readonly clock: Clock;
}

/** Bounds calls to an environment. */
const KEPT_MS = 10_000;

export function createUrlChecks(parts: Parts): UrlChecks {
  const { clock } = parts;
  // The oldest first.
  const kept = new Map<string, { readonly endsMs: number; readonly check: Promise<UrlCheck> }>();
  const forgetOld = () => {
    for (const [uid, { endsMs }] of kept) {
      if (endsMs > clock.monotonicMs()) return;
      kept.delete(uid);
    }
  };
  return {
    check(environment) {
      forgetOld();
      const { uid } = environment.metadata;
      const known = kept.get(uid);
      if (known !== undefined) return known.check;
      const check = askAll(environment, parts);
      const keeping = { endsMs: clock.monotonicMs() + KEPT_MS, check };
      kept.set(uid, keeping);
      // A failed check has probed nothing: the next caller tries again.
      check.catch(() => {
        if (kept.get(uid) === keeping) kept.delete(uid);
      });
      return check;
    },
  };
}

async function askAll(environment: EphemeralEnvironment, parts: Parts): Promise<UrlCheck> {
  const checkedAt = parts.clock.now();
  const [results, hosts] = await Promise.all([askComponents(environment, parts), askHosts(environment, parts)]);
  return { results, hosts, checkedAt };
}

async function askComponents({ spec, status }: EphemeralEnvironment, parts: Parts): Promise<UrlCheck["results"]> {
  const requested = COMPONENTS.flatMap((component) => {
    const url = status?.urls?.[component];
    if (url === undefined) return [];
    const healthPath = parts.repositories.find(spec[component]?.repository ?? "")?.spec.healthPath ?? "/";
    return [parts.prober.probe(url, healthPath).then((result) => [component, result] as const)];
  });
  return Object.fromEntries(await Promise.all(requested));
}

async function askHosts({ spec, status }: EphemeralEnvironment, parts: Parts): Promise<UrlCheck["hosts"]> {
  const { hosts: listed = [] } = parts.repositories.find(spec.backend.repository)?.spec ?? {};
  const requested = Object.entries(status?.urls?.hosts ?? {}).map(async ([name, url]) => {
    const healthPath = listed.find((host) => host.name === name)?.healthPath ?? "/";
    return { name, url, result: await parts.prober.probe(url, healthPath) };
  });
  return Promise.all(requested);
}
