import { readFileSync } from "node:fs";
import type { Settings } from "../../config/settings.ts";
import { httpsUrlProber } from "../adapters/http/url-prober.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { UrlProber } from "../ports/url-prober.ts";

/** A new prober with its own connections, so that controllers and users don't wait for each other. */
export function urlProber({ ingressAddress, ingressCaFile }: Settings, clock: Clock): UrlProber {
  const ca = ingressCaFile === undefined ? undefined : readFileSync(ingressCaFile, "utf8");
  return httpsUrlProber({ ingressAddress, ca }, clock);
}
