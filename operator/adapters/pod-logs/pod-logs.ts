import pLimit from "p-limit";
import { yieldIfDue } from "../../kit/time/yield-if-due.ts";
import { SecretMasks } from "../../masking/secret-mask.ts";
import type { PodLogs } from "../../ports/api/pod-logs.ts";
import { forUser } from "../kubernetes/user-request.ts";
import { PodLogFollowing } from "./following.ts";
import { type LogContext, logSources, maskFor, newest, podsOf, readAll, shown, unmaskableNote } from "./reading.ts";

/** Concurrent callers; others queue, which bounds memory. */
const READERS_AT_ONCE = 8;

/** PodLogs port on the Kubernetes API, with the rights of the environment's namespace. */
export function kubernetesPodLogs(context: LogContext): PodLogs {
  const { client, clock } = context;
  const limit = pLimit(READERS_AT_ONCE);
  // At most these readers wait for it, and one batch of each of the streams, which the API bounds.
  const masks = new SecretMasks(yieldIfDue);
  return {
    tail: (environment, target, { lines, sinceSeconds }) =>
      limit(() =>
        forUser(async () => {
          const pods = await podsOf(context, environment, target);
          const { values, unmaskable } = await maskFor(client, pods);
          const isWithheld = ({ metadata }: (typeof pods)[number]) => unmaskable.has(metadata.uid);
          const sources = logSources(pods.filter((pod) => !isWithheld(pod)));
          const from = sinceSeconds === undefined ? {} : { sinceSeconds: String(sinceSeconds) };
          const found = await readAll(context, sources, { lines, from });
          const hidden = new Set(logSources(pods.filter(isWithheld)).map(({ pod }) => pod));
          const notes = [...hidden].map((pod) => unmaskableNote(pod, clock));
          return shown(newest([...found, ...notes], lines), masks.of(values));
        }),
      ),

    follow: (environment, target, selection) =>
      new PodLogFollowing({ ...context, environment, target, selection, limit, masks }).batches(),
  };
}
