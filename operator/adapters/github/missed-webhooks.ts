import { insteadOf } from "../../kit/client/errors.ts";
import type { HostApi, RequestValues } from "../../ports/host-technology.ts";
import { PullRequestHostFailed, type PullRequestReader } from "../../ports/webhooks/pull-request-host.ts";
import { repositoryHooks } from "../host-api/hooks.ts";
import { answeredStatus } from "../host-api/host-api.ts";
import { partsOf } from "../host-api/repository-calls.ts";
import { GITHUB_HOOKS } from "./repository-hooks.ts";

type Calls = Pick<HostApi, "request" | "page">;

/** A delivery attempt. Attempts of one webhook share a `guid`. */
interface Attempt {
  readonly id: number;
  readonly guid: string;
  readonly delivered_at: string;
  readonly status_code: number;
}

/** Limit per sweep, to spare the host's rate limit. */
const MOST_REDELIVERED = 50;
/** Attempts after which a failure is permanent. */
const MOST_ATTEMPTS = 5;
const MOST_PAGES = 20;

const DELIVERIES = "/repos/{owner}/{repo}/hooks/{hook}/deliveries";

/**
 * Makes GitHub repeat failed deliveries, https://docs.github.com/en/rest/repos/webhooks: it never does so by itself.
 * The log has no body that fits a signature, so nothing in it is acted on.
 */
export function redeliverMissed(api: Calls): PullRequestReader["redeliver"] {
  const { list } = repositoryHooks(api.request, GITHUB_HOOKS);
  return async (repository, { address, since }, signal) => {
    const read = async () => {
      const own = (await list(repository, signal)).find(({ url }) => url.startsWith(address));
      const hook = own && { ...partsOf(repository), hook: own.id };
      return hook && { hook, attempts: await attemptsOf(api, hook, since, signal) };
    };
    // The log needs its own right: `webhooks` of the repository.
    const isRefused = (error: unknown) => [403, 404].includes(answeredStatus(error) ?? 0);
    const log = await read().catch(insteadOf(isRefused, undefined));
    const isForbidden = (error: unknown) => answeredStatus(error) === 403 && retryAfterOf(error) === undefined;
    return log && redeliver(api, log, signal).catch(insteadOf(isForbidden, undefined));
  };
}

interface Log {
  readonly hook: RequestValues;
  readonly attempts: readonly Attempt[];
}

/** Answers how many are delivered again. One that the host refuses to repeat holds up no other. */
async function redeliver(api: Calls, { hook, attempts: all }: Log, signal: AbortSignal): Promise<number> {
  const attempts = Map.groupBy(all, ({ guid }) => guid);
  const failed = [...attempts.values()]
    .filter((ofOne) => ofOne.length < MOST_ATTEMPTS && !ofOne.some(isSuccess))
    .flatMap(([latest]) => latest ?? [])
    .slice(0, MOST_REDELIVERED);
  let refused = 0;
  for (const { id } of failed) {
    await api.request(`POST ${DELIVERIES}/{id}/attempts`, { ...hook, id }, signal).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      refused += 1;
    });
  }
  return failed.length - refused;
}

/** True for an answer about this delivery alone. */
const isRefusal = (error: unknown) => [400, 404, 422].includes(answeredStatus(error) ?? 0);

const retryAfterOf = (error: unknown) => (error instanceof PullRequestHostFailed ? error.retryAfterMs : undefined);

async function attemptsOf({ page }: Calls, hook: RequestValues, since: Date, signal: AbortSignal): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const isRecent = ({ delivered_at }: Attempt) => Date.parse(delivered_at) >= since.getTime();
  let cursor: string | undefined;
  for (let count = 0; count < MOST_PAGES; count++) {
    const query = { ...hook, per_page: 100, cursor };
    const { items, next } = await page<readonly Attempt[]>(`GET ${DELIVERIES}`, query, signal);
    attempts.push(...items.filter(isRecent));
    if (next === undefined || !items.every(isRecent)) break;
    cursor = next;
  }
  return attempts;
}

const isSuccess = ({ status_code }: Attempt) => status_code >= 200 && status_code < 300;
