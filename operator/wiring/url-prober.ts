import { readFileSync } from "node:fs";
import type { Settings } from "../../config/settings.ts";
import { httpsUrlProber } from "../adapters/http/url-prober.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { UrlProber } from "../ports/url-prober.ts";

/** A prober of its own for each who asks: nobody waits for the connections of another. */
export function urlProber({ ingressAddress, ingressCaFile }: Settings, clock: Clock): UrlProber {
  const ca = ingressCaFile === undefined ? undefined : readFileSync(ingressCaFile, "utf8");
  return httpsUrlProber({ ingressAddress, ca }, clock);
}
