import { fullNameOf, type Repository } from "../../../crds/repository/repository.ts";
import type { CheckedHook, HookCheck, HookProblem } from "../../ports/api/webhook-registrar.ts";
import { type HostedRepository, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import type { RepositoryHook, RepositoryHooks } from "../../ports/webhooks/repository-hooks.ts";
import { type PrerequisitesContext, prerequisitesOf } from "./prerequisites.ts";

export interface CheckContext extends PrerequisitesContext {
  readonly hooks: RepositoryHooks;
}

const OURS = /\/api\/(v2\/)?webhooks\/(repohost|pipelinehost\/pipeline)$/;

/** Compares a Repository's hooks on its host with the desired ones. */
export async function checkHooks(
  repository: Repository,
  context: CheckContext,
  signal: AbortSignal,
): Promise<HookCheck> {
  const prerequisites = await prerequisitesOf(repository, context);
  const { host, address } = prerequisites;
  const known = {
    ...(host === undefined ? {} : { host: { id: host.id, kind: host.kind } }),
    ...(address === undefined ? {} : { address }),
  };
  if (host === undefined || address === undefined) return { ...known, hooks: [], problems: prerequisites.problems };
  const hosted = { host: host.id, fullName: fullNameOf(repository) };
  try {
    const hooks = await askedHooks(hosted, { address, hooks: context.hooks, signal });
    const found = problemsOf(hooks, { address, repair: `POST /api/v2/repos/${repository.metadata.name}/webhook` });
    return { ...known, hooks: hooks.map(toChecked), problems: [...prerequisites.problems, ...found] };
  } catch (error) {
    if (!(error instanceof PullRequestHostFailed)) throw error;
    return { ...known, hooks: [], problems: [...prerequisites.problems, problemOfHost(error, hosted, context.hooks)] };
  }
}

type AskedHook = CheckedHook & RepositoryHook;

async function askedHooks(
  repository: HostedRepository,
  { address, hooks, signal }: { address: string; hooks: RepositoryHooks; signal: AbortSignal },
): Promise<readonly AskedHook[]> {
  const found = (await hooks.list(repository, signal)).flatMap((hook) => {
    const shown = shownAddress(hook.url);
    return shown === undefined ? [] : [{ ...hook, address: shown, isHere: hook.url === address }];
  });
  return Promise.all(
    found.map(async (hook) => {
      const lastDelivery = hook.isHere ? await hooks.lastDelivery(repository, hook.id, signal) : undefined;
      return lastDelivery === undefined ? hook : { ...hook, lastDelivery };
    }),
  );
}

function toChecked({ id, address, isHere, events, state, lastDelivery }: AskedHook): CheckedHook {
  return { id, address, isHere, events, state, ...(lastDelivery === undefined ? {} : { lastDelivery }) };
}

/** Address of a hook to the platform; another service's may be a secret. */
function shownAddress(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  return OURS.test(pathname) ? `${origin}${pathname}` : undefined;
}

interface Wanted {
  readonly address: string;
  /** Call that registers and repairs. */
  readonly repair: string;
}

function problemsOf(hooks: readonly AskedHook[], wanted: Wanted): readonly HookProblem[] {
  const here = hooks.filter(({ isHere }) => isHere);
  const [hook] = here;
  const { repair } = wanted;
  if (hook === undefined) {
    const message = `the repository has no hook for ${wanted.address}`;
    const remedy = `${repair} registers it. (An organization's hook, or an App that delivers instead, is not seen here.)`;
    return [{ reason: "HookMissing", message, remedy }];
  }
  const remedy = `${repair} repairs it.`;
  const faults = hook.faults.map(({ reason, message }) => ({ reason, message: `hook ${hook.id}: ${message}`, remedy }));
  return [...stateProblems(hook, remedy), ...faults, ...deliveryProblems(hook, remedy), ...repetition(here, remedy)];
}

function stateProblems({ id, state }: AskedHook, remedy: string): readonly HookProblem[] {
  if (state === "inactive") return [{ reason: "HookInactive", message: `hook ${id} is switched off`, remedy }];
  if (state !== "paused") return [];
  const message = `the host has paused hook ${id}, because its deliveries failed`;
  const wait = "The platform has the host try again every few minutes; see there why they failed.";
  return [{ reason: "HookPaused", message, remedy: wait }];
}

/** A delivery before the last change says nothing about the current hook. */
function deliveryProblems({ id, lastDelivery, address, changedAt }: AskedHook, remedy: string): readonly HookProblem[] {
  if (lastDelivery === undefined || lastDelivery.isAccepted) return [];
  const { at, answer, isUnauthentic } = lastDelivery;
  if (at !== undefined && changedAt !== undefined && new Date(at) < new Date(changedAt)) return [];
  const message = `the last delivery of hook ${id} was answered: ${answer}`;
  if (isUnauthentic) {
    return [{ reason: "HookUnauthentic", message, remedy: `Its secret is another one than ours: ${remedy}` }];
  }
  const reach = `Let the host reach ${address} (name, certificate, firewall), then have it deliver again.`;
  return [{ reason: "HookUnreachable", message, remedy: reach }];
}

function repetition(here: readonly unknown[], remedy: string): readonly HookProblem[] {
  if (here.length < 2) return [];
  const message = `${here.length} hooks have the same address, so each event comes as often`;
  return [{ reason: "HookRepeated", message, remedy }];
}

/** Answers to a token without a right; some hosts hide resources. */
const WITHOUT_RIGHT = [401, 403, 404];

/** Problem of a host that could not be asked; `HostUnavailable` passes by itself. */
export function problemOfHost(
  { message, status = 500, retryAfterMs }: PullRequestHostFailed,
  repository: HostedRepository,
  hooks: Pick<RepositoryHooks, "neededRight">,
): HookProblem {
  if (status >= 500 || retryAfterMs !== undefined) {
    return { reason: "HostUnavailable", message, remedy: "Try again when the cause is gone." };
  }
  if (!WITHOUT_RIGHT.includes(status)) return { reason: "HostRefused", message, remedy: "Correct what the host says." };
  const remedy = `Give the token of host '${repository.host}' ${hooks.neededRight(repository)}.`;
  return { reason: "HostRefused", message, remedy };
}
