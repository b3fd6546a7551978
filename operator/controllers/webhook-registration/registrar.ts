import NodeCache from "node-cache";
import { fullNameOf, type Repository } from "../../../crds/repository/repository.ts";
import {
  type HookCheck,
  HookHostUnavailable,
  type HookProblem,
  HookRefused,
  type WebhookRegistrar,
} from "../../ports/api/webhook-registrar.ts";
import { PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { type CheckContext, checkHooks, type Prerequisites, prerequisitesOf, problemOfHost } from "./check.ts";

/** Readers must not use up the host's rate limit. */
const CACHED_SECONDS = 15;
/** A request is answered within 30 s; a call has 10 s. */
const DEADLINE_MS = 25_000;
const RETRY_SECONDS = 10;

/** WebhookRegistrar port. */
export function createWebhookRegistrar(context: CheckContext): WebhookRegistrar {
  const checks = new NodeCache({ stdTTL: CACHED_SECONDS, useClones: false });
  return {
    check(repository) {
      const { uid, resourceVersion } = repository.metadata;
      const id = `${uid}@${resourceVersion}`;
      const recent = checks.get<Promise<HookCheck>>(id);
      if (recent !== undefined) return recent;
      const checked = checkHooks(repository, context, AbortSignal.timeout(DEADLINE_MS));
      checks.set(id, checked);
      checked.catch(() => checks.del(id));
      return checked;
    },
    async register(repository) {
      try {
        await putHook(repository, context);
      } finally {
        checks.flushAll();
      }
    },
  };
}

async function putHook(repository: Repository, context: CheckContext): Promise<void> {
  const { host, address, key } = assertComplete(await prerequisitesOf(repository, context));
  const hosted = { host: host.id, fullName: fullNameOf(repository) };
  try {
    await context.hooks.put(hosted, { address, key }, AbortSignal.timeout(DEADLINE_MS));
  } catch (error) {
    if (!(error instanceof PullRequestHostFailed)) throw error;
    const problem = problemOfHost(error, hosted, context.hooks);
    if (problem.reason !== "HostUnavailable") throw refusal(problem);
    const seconds = error.retryAfterMs === undefined ? RETRY_SECONDS : error.retryAfterMs / 1000;
    throw new HookHostUnavailable(error.message, seconds, { cause: error });
  }
}

function assertComplete({ host, address, key, problems: [problem] }: Prerequisites) {
  if (problem?.reason === "KeyUnreadable") throw new HookHostUnavailable(problem.message, RETRY_SECONDS);
  if (problem !== undefined || !host || !address || !key) throw refusal(problem);
  return { host, address, key };
}

function refusal(problem: HookProblem | undefined): HookRefused {
  const missing = "a prerequisite of the hook is missing";
  return new HookRefused(problem === undefined ? missing : `${problem.message}: ${problem.remedy}`);
}
