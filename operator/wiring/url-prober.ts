import type { Settings } from "../../config/settings.ts";
import { httpsUrlProber } from "../adapters/http/url-prober.ts";
import { contentOf } from "../kit/content-of.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { UrlProber } from "../ports/url-prober.ts";

/** A prober with its own connections, so that controllers and users don't wait for each other. */
export function urlProber({ ingressAddress, ingressCaFile }: Settings, clock: Clock): UrlProber {
  return httpsUrlProber({ ingressAddress, ca: contentOf(ingressCaFile) }, clock);
}
