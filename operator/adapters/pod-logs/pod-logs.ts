import pLimit from "p-limit";
import { yieldIfDue } from "../../kit/time/yield-if-due.ts";
import { SecretMasks } from "../../masking/secret-mask.ts";
import type { PodLogs } from "../../ports/api/pods.ts";
import type { NamespaceReader } from "../kubernetes/namespace-state.ts";
import { forUser } from "../kubernetes/user-request.ts";
import { PodLogFollowing } from "./following.ts";
import { logSources, maskedLines, maskFor, newest, podsOf, readAll, unmaskableNote } from "./reading.ts";

/** Concurrent callers; others queue, which bounds memory. */
const READERS_AT_ONCE = 8;

/** PodLogs port on the Kubernetes API, with the rights of the environment's namespace. */
export function kubernetesPodLogs(reader: NamespaceReader): PodLogs {
  const { client, clock } = reader;
  const limit = pLimit(READERS_AT_ONCE);
  // At most these readers wait for it, and one batch of each of the streams, which the API bounds.
  const masks = new SecretMasks(yieldIfDue);
  return {
    tail: (environment, target, { lines, sinceSeconds }) =>
      limit(() =>
        forUser(async () => {
          const pods = await podsOf(reader, environment, target);
          const { values, unmaskable } = await maskFor(client, pods);
          const isWithheld = ({ metadata }: (typeof pods)[number]) => unmaskable.has(metadata.uid);
          const sources = logSources(pods.filter((pod) => !isWithheld(pod)));
          const from = sinceSeconds === undefined ? {} : { sinceSeconds: String(sinceSeconds) };
          const found = await readAll(reader, sources, { lines, from });
          const hidden = new Set(logSources(pods.filter(isWithheld)).map(({ pod }) => pod));
          const notes = [...hidden].map((pod) => unmaskableNote(pod, clock));
          return maskedLines(newest([...found, ...notes], lines), masks.of(values));
        }),
      ),

    follow: (environment, target, selection) =>
      new PodLogFollowing({ ...reader, environment, target, selection, limit, masks }).batches(),
  };
}
