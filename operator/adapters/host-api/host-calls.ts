import type { Headers } from "undici";
import type { Log } from "../../kit/log.ts";
import type { CallBudget, HostCallCounts, HostCalls } from "../../ports/host-technology.ts";
import type { Fetch } from "./conditional-requests.ts";

/** Call counter of one host. */
export interface HostCallCounter {
  /** Fetch that counts each request. */
  counted(fetch: Fetch): Fetch;
  /** Records rate limiting by the host. */
  limited(): void;
  /** Milliseconds until the host's rate limit resets; at most 0 while calls are left. */
  usedUpMs(now: Date): number;
}

interface Counts extends HostCallCounts {
  sent: number;
  limited: number;
  readonly answers: Record<string, number>;
  budget: CallBudget | undefined;
}

/** Remaining share below which a warning is logged. */
const LITTLE = 0.1;

/** Counts by host, over all its connections; warns once per window of a nearly exhausted rate limit. */
export function hostCalls(log: Log): HostCalls & { of(host: string): HostCallCounter } {
  const hosts = new Map<string, Counts>();
  return {
    snapshot: () => structuredClone(Object.fromEntries(hosts)),
    of(host) {
      const counts = hosts.get(host) ?? { sent: 0, answers: {}, limited: 0, budget: undefined };
      hosts.set(host, counts);
      return counter(counts, log.with({ host }));
    },
  };
}

function counter(counts: Counts, log: Log): HostCallCounter {
  const answered = (answer: string) => {
    counts.answers[answer] = (counts.answers[answer] ?? 0) + 1;
  };
  const record = (budget: CallBudget | undefined) => {
    if (budget === undefined) return;
    const { budget: former } = counts;
    const isSameWindow = former?.resetsAt.getTime() === budget.resetsAt.getTime();
    // Answers may overtake each other.
    if (isSameWindow && former.remaining <= budget.remaining) return;
    const isWarned = isSameWindow && isLittle(former);
    if (isLittle(budget) && !isWarned) log.warn("a host lets us make few more calls", { budget });
    counts.budget = budget;
  };
  return {
    counted: (fetch) => async (url, options) => {
      counts.sent += 1;
      const reply = await fetch(url, options).catch((error: unknown) => {
        answered("none");
        throw error;
      });
      answered(reply.status === 304 ? "304" : `${Math.trunc(reply.status / 100)}xx`);
      record(budgetOf(reply.headers));
      return reply;
    },
    limited: () => {
      counts.limited += 1;
    },
    usedUpMs: (now) => (counts.budget?.remaining === 0 ? counts.budget.resetsAt.getTime() - now.getTime() : 0),
  };
}

const isLittle = ({ limit, remaining }: CallBudget) => remaining < limit * LITTLE;

/**
 * Rate limit in a response: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api, and
 * https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers. GitHub has others for
 * GraphQL and searches.
 */
function budgetOf(headers: Headers): CallBudget | undefined {
  if ((headers.get("x-ratelimit-resource") ?? "core") !== "core") return undefined;
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? headers.get(`ratelimit-${name}`) ?? Number.NaN),
  );
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  const isStated = [limit, remaining, reset].every((number) => Number.isSafeInteger(number) && number >= 0);
  return isStated && limit > 0 ? { limit, remaining, resetsAt: new Date(reset * 1000) } : undefined;
}
