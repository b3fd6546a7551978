import { createClient, type LoginOptions } from "../../sdk/index.ts";
import { misuse } from "../failure.ts";
import { plainLine } from "../output/plain.ts";

/** Ways to log in from a command line. */
export type Flow = OfferedIssuer["flows"][number];

/** An issuer for command lines. */
export type OfferedIssuer = LoginOptions["issuers"][number];

/** Issuers that a platform offers to command lines. @throws PlatformError, TypeError when it can't be reached */
export async function loginOptions(url: string, interrupted: AbortSignal): Promise<readonly OfferedIssuer[]> {
  const platform = createClient({ url });
  const { issuers } = await platform.call("GET /api/v2/auth/login-options", { signal: interrupted });
  return issuers;
}

interface Wish {
  readonly issuer: string | undefined;
  readonly device: boolean;
}

/** Chooses the issuer and the flow. @throws Failure (misuse) when there is none, or the choice is ambiguous */
export function chosen(
  offered: readonly OfferedIssuer[],
  { issuer, device }: Wish,
): { from: OfferedIssuer; flow: Flow } {
  const flow = (one: OfferedIssuer): Flow | undefined =>
    device
      ? one.flows.find((known) => known === "device")
      : (one.flows.find((known) => known === "loopback") ?? one.flows[0]);
  const possible = offered.filter((one) => flow(one) !== undefined);
  const meant = issuer === undefined ? possible : possible.filter((one) => one.issuer === issuer);
  const [from, ...others] = meant;
  const way = from && flow(from);
  if (from === undefined || way === undefined) {
    throw misuse(`the platform offers no such log-in; eenv login --with-token takes an API token${namesOf(possible)}`);
  }
  if (others.length > 0) throw misuse(`--issuer has to name one of several issuers${namesOf(possible)}`);
  return { from, flow: way };
}

const namesOf = (issuers: readonly OfferedIssuer[]) =>
  issuers.map(({ issuer }) => `\n  --issuer ${plainLine(issuer)}`).join("");
