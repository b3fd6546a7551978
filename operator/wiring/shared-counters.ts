import type { Settings } from "../../config/settings.ts";
import { redisSharedCounters } from "../adapters/redis/shared-counters.ts";
import { contentOf } from "../kit/content-of.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { SharedCounters } from "../ports/facade/shared-counters.ts";

/** Counters of the settings, if any. Files are read once. */
export function createSharedCounters(
  { api }: Settings,
  parts: { readonly clock: Clock; readonly log: Log },
): (SharedCounters & { close(): void }) | undefined {
  const { redis } = api.limits;
  if (redis === undefined) return undefined;
  const { url, username, passwordFile, caFile } = redis;
  return redisSharedCounters(
    { url, username, password: contentOf(passwordFile)?.trim(), ca: contentOf(caFile) },
    parts,
  );
}
