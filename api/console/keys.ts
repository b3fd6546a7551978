import { SecretsUnavailable } from "../../crds/errors.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../../operator/ports/clock.ts";
import type { ConsoleSecrets } from "../../operator/ports/facade/console-secrets.ts";
import { SecretManagerUnavailable } from "../../operator/ports/secret-manager.ts";

/** How long a key that is not there is not asked for again: anybody can send a cookie that names one. */
const ABSENT_MS = 10_000;

/** Keys by their version. Every method throws SecretsUnavailable. */
export interface KeyRing {
  /** The one that seals. */
  readonly current: number;
  /** `undefined` for one that does not count: only the current version and its neighbours do. */
  find(version: number): Promise<Sensitive | undefined>;
}

/**
 * The keys of cookies, each read once. The version before the current one is good for what it sealed; the one after it,
 * too, because while an installation changes its version another replica seals with that already.
 */
export function keyRing(
  secrets: Pick<ConsoleSecrets, "key">,
  { current, clock }: { readonly current: number; readonly clock: Clock },
): KeyRing {
  const known = new Map<number, Sensitive>();
  const absentSinceMs = new Map<number, number>();
  const isAbsent = (version: number) =>
    clock.monotonicMs() - (absentSinceMs.get(version) ?? Number.NEGATIVE_INFINITY) < ABSENT_MS;
  return {
    current,
    async find(version) {
      if (Math.abs(version - current) > 1 || version < 1) return undefined;
      const key = known.get(version);
      if (key !== undefined || isAbsent(version)) return key;
      const found = await secrets.key(version).catch(throwUnavailable);
      if (found === undefined) absentSinceMs.set(version, clock.monotonicMs());
      else known.set(version, found);
      return found;
    },
  };
}

function throwUnavailable(cause: unknown): never {
  throw cause instanceof SecretManagerUnavailable ? new SecretsUnavailable({ cause }) : cause;
}
