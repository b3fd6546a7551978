import { SecretsUnavailable } from "../../crds/errors.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { ConsoleSecrets } from "../../operator/ports/secret-manager.ts";
import { SecretManagerUnavailable } from "../../operator/ports/secret-manager.ts";

/** Time until a missing key is read again: anyone can send a cookie that names one. */
const ABSENT_MS = 10_000;

/** Keys by their version. Every method throws SecretsUnavailable. */
export interface KeyRing {
  /** Version that seals. */
  readonly current: number;
  /** `undefined` except for the current version and its neighbours. */
  find(version: number): Promise<Sensitive | undefined>;
}

/**
 * Keys of cookies, each read once. The version before the current one still opens; so does the next one, with which
 * another replica may seal already.
 */
export function keyRing(
  secrets: ConsoleSecrets,
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
