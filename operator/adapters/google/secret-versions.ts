import type { Sensitive } from "../../../crds/sensitive.ts";
import { SecretManagerUnavailable, type StoredSecret } from "../../ports/secret-manager.ts";
import type { GoogleCalls, GoogleSecret } from "./secret-calls.ts";

/**
 * Maps our versions to Google's. Google numbers them itself and adds one on every request, so two writers may leave
 * surplus ones. Our version 1 is Google's first; every later one is the target of the alias `v<version>`, and aliases
 * are set only on an unchanged secret. The loser of such a race is never answered, and goes with the secret.
 */

/** Limit of a secret (https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets). */
const MOST_ALIASES = 50;
const ROUNDS = 5;

/** The kept version; `undefined` without one. */
export async function findVersion(
  calls: GoogleCalls,
  secret: GoogleSecret,
  version: number,
): Promise<StoredSecret | undefined> {
  const number = googleNumber(secret, version);
  const accessed = number === undefined ? undefined : await calls.access(secret.name ?? "", number);
  return accessed && { version, value: accessed.value };
}

/** Adds a value as this version, and answers the kept one: another writer's when that was first. */
export async function addVersion(
  calls: GoogleCalls,
  secret: GoogleSecret,
  version: number,
  value: Sensitive,
): Promise<StoredSecret> {
  const added = await calls.add(secret.name ?? "", value);
  const kept = googleNumber(secret, version) ?? (await claim(calls, secret, version, added));
  if (kept === added) return { version, value };
  const winner = await calls.access(secret.name ?? "", kept);
  if (winner === undefined) throw new SecretManagerUnavailable("what another writer stored can't be read back yet");
  return { version, value: winner.value };
}

/** Makes a number our version, unless another is; answers that number. */
async function claim(calls: GoogleCalls, read: GoogleSecret, version: number, added: number): Promise<number> {
  let secret: GoogleSecret | undefined = read;
  for (let round = 1; round <= ROUNDS && secret !== undefined; round++) {
    const kept = googleNumber(secret, version);
    if (kept !== undefined) return kept;
    if (await calls.setAliases(secret, withAlias(secret, version, added))) return added;
    secret = await calls.find(read.name ?? "");
  }
  throw new SecretManagerUnavailable("a secret is being changed by many at once");
}

/** Google's number of our version, by the secret's aliases. */
function googleNumber({ versionAliases }: GoogleSecret, version: number): number | undefined {
  const aliases = versionAliases ?? {};
  const named = aliases[`v${version}`];
  if (named !== undefined) return Number(named);
  const isFirst = version === 1 && !Object.values(aliases).some((number) => Number(number) === 1);
  return isFirst ? 1 : undefined;
}

/** The aliases with one more; the oldest of ours makes room. */
function withAlias({ versionAliases }: GoogleSecret, version: number, number: number): Record<string, number> {
  const aliases = Object.entries(versionAliases ?? {}).map(([alias, held]) => [alias, Number(held)] as const);
  const newestFirst = aliases.toSorted(([one], [other]) => versionOf(other) - versionOf(one));
  return Object.fromEntries([...newestFirst.slice(0, MOST_ALIASES - 1), [`v${version}`, number]]);
}

function versionOf(alias: string): number {
  return Number(/^v([0-9]+)$/.exec(alias)?.[1] ?? 0);
}
