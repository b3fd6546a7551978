import type { Settings } from "../../../config/settings.ts";
import type { RepositoryHostSettings } from "../../../config/webhooks.schema.ts";
import { fullNameOf, hostOf, type Repository } from "../../../crds/repository/repository.ts";
import { textOf } from "../../../crds/secret-text.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { CheckedHook, HookCheck, HookProblem } from "../../ports/api/webhook-registrar.ts";
import { SecretManagerUnavailable, type SecretReader } from "../../ports/secret-manager.ts";
import { type HostedRepository, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import type { RepositoryHook, RepositoryHooks } from "../../ports/webhooks/repository-hooks.ts";
import { isLongKey, KEY_MIN_BYTES } from "../../webhooks/webhook-keys.ts";

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
  const place = {
    ...(host !== undefined && { host: { id: host.id, kind: host.kind } }),
    ...(address !== undefined && { address }),
  };
  if (host === undefined || address === undefined) return { ...place, hooks: [], problems: prerequisites.problems };
  const hosted = { host: host.id, fullName: fullNameOf(repository) };
  try {
    const hooks = await platformHooks(hosted, { address, hooks: context.hooks, signal });
    const problems = problemsOf(hooks, address, `POST /api/v2/repos/${repository.metadata.name}/webhook`);
    return { ...place, hooks: hooks.map(toChecked), problems: [...prerequisites.problems, ...problems] };
  } catch (error) {
    if (!(error instanceof PullRequestHostFailed)) throw error;
    return { ...place, hooks: [], problems: [...prerequisites.problems, problemOfHost(error, hosted, context.hooks)] };
  }
}

type PlatformHook = CheckedHook & RepositoryHook;

/** Hooks to the platform, with the last delivery of those to its expected address. */
async function platformHooks(
  repository: HostedRepository,
  { address, hooks, signal }: { address: string; hooks: RepositoryHooks; signal: AbortSignal },
): Promise<readonly PlatformHook[]> {
  const listed = (await hooks.list(repository, signal)).map(async (hook) => {
    const shown = shownAddress(hook.url);
    const isHere = hook.url === address;
    const lastDelivery = shown && isHere ? await hooks.lastDelivery(repository, hook.id, signal) : undefined;
    return shown === undefined ? [] : [{ ...hook, address: shown, isHere, ...(lastDelivery && { lastDelivery }) }];
  });
  return (await Promise.all(listed)).flat();
}

function toChecked({ id, address, isHere, events, state, lastDelivery }: PlatformHook): CheckedHook {
  return { id, address, isHere, events, state, ...(lastDelivery && { lastDelivery }) };
}

/** Address of a hook to the platform; another service's may be a secret. */
function shownAddress(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  return OURS.test(pathname) ? `${origin}${pathname}` : undefined;
}

/** @param repair call that registers and repairs */
function problemsOf(hooks: readonly PlatformHook[], address: string, repair: string): readonly HookProblem[] {
  const here = hooks.filter(({ isHere }) => isHere);
  const [hook] = here;
  if (hook === undefined) {
    const message = `the repository has no hook for ${address}`;
    const remedy = `${repair} registers it. (An organization's hook, or an App that delivers instead, is not seen here.)`;
    return [{ reason: "HookMissing", message, remedy }];
  }
  const remedy = `${repair} repairs it.`;
  const faults = hook.faults.map(({ reason, message }) => ({ reason, message: `hook ${hook.id}: ${message}`, remedy }));
  return [...stateProblems(hook, remedy), ...faults, ...deliveryProblems(hook, remedy), ...repetition(here, remedy)];
}

function stateProblems({ id, state }: PlatformHook, remedy: string): readonly HookProblem[] {
  if (state === "inactive") return [{ reason: "HookInactive", message: `hook ${id} is switched off`, remedy }];
  if (state !== "paused") return [];
  const message = `the host has paused hook ${id}, because its deliveries failed`;
  const wait = "The platform has the host try again every few minutes; see there why they failed.";
  return [{ reason: "HookPaused", message, remedy: wait }];
}

/** A delivery before the last change says nothing about the current hook. */
function deliveryProblems(
  { id, lastDelivery, address, changedAt }: PlatformHook,
  remedy: string,
): readonly HookProblem[] {
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
  hooks: RepositoryHooks,
): HookProblem {
  if (status >= 500 || retryAfterMs !== undefined) {
    return { reason: "HostUnavailable", message, remedy: "Try again when the cause is gone." };
  }
  if (!WITHOUT_RIGHT.includes(status)) return { reason: "HostRefused", message, remedy: "Correct what the host says." };
  const remedy = `Give the token of host '${repository.host}' ${hooks.neededRight(repository)}.`;
  return { reason: "HostRefused", message, remedy };
}

const PATH = "/api/webhooks/repohost";

/** Prerequisites of a hook. */
export interface Prerequisites {
  readonly host?: RepositoryHostSettings;
  /** Expected address of hooks. */
  readonly address?: string;
  /** Signing key of deliveries from now on. */
  readonly key?: Sensitive;
  readonly problems: readonly HookProblem[];
}

interface PrerequisitesContext {
  readonly settings: Settings;
  readonly secretManager: SecretReader;
}

/** Prerequisites of a Repository's hook, without asking its host. */
export async function prerequisitesOf(repository: Repository, context: PrerequisitesContext): Promise<Prerequisites> {
  const host = hostWithToken(repository, context);
  const address = addressOf(context.settings);
  const key = await keyOf(repository, context);
  return {
    ...(!("reason" in host) && { host }),
    ...(typeof address === "string" && { address }),
    ...(!("reason" in key) && { key }),
    problems: [host, address, key].filter((one) => typeof one === "object" && "reason" in one),
  };
}

function hostWithToken(
  { metadata, spec }: Repository,
  { settings }: PrerequisitesContext,
): RepositoryHostSettings | HookProblem {
  if (spec.host === undefined) {
    const message = `Repository '${metadata.name}' names no host, so its hooks can't be asked for`;
    return { reason: "NoHost", message, remedy: "Set spec.host to the id of a host in the settings (hosts)." };
  }
  const host = hostOf(spec, settings);
  if (host === undefined) {
    const message = `the settings have no host '${spec.host}'`;
    return { reason: "HostUnknown", message, remedy: "Add it to hosts in the settings, or correct spec.host." };
  }
  if (host.token !== undefined) return host;
  const remedy = `Set token of host '${host.id}' in the settings (hosts).`;
  return { reason: "TokenMissing", message: `the settings have no token of host '${host.id}'`, remedy };
}

function addressOf({ publicUrl }: PrerequisitesContext["settings"]): string | HookProblem {
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/+$/, "")}${PATH}`;
  const message = "the settings don't say where the platform is";
  return { reason: "AddressUnknown", message, remedy: "Set publicUrl in the settings." };
}

/** The first key signs; a second one is accepted too. */
async function keyOf(
  { metadata, spec }: Repository,
  { settings, secretManager }: PrerequisitesContext,
): Promise<Sensitive | HookProblem> {
  const ref = spec.webhookSecretRef ?? settings.webhooks.secrets[0];
  if (ref === undefined) {
    const message = `no key signs the webhooks of Repository '${metadata.name}'`;
    const remedy = "Set spec.webhookSecretRef of the Repository, or webhooks.secrets in the settings.";
    return { reason: "KeyMissing", message, remedy };
  }
  try {
    const key = await textOf(ref, secretManager);
    if (key !== undefined && isLongKey(key)) return key;
    const fault = key === undefined ? "does not exist" : `has fewer than ${KEY_MIN_BYTES} bytes`;
    const remedy = `Store a random value of ${KEY_MIN_BYTES} bytes or more there.`;
    return { reason: "KeyMissing", message: `the key '${ref.name}@${ref.key}' ${fault}`, remedy };
  } catch (error) {
    if (!(error instanceof SecretManagerUnavailable)) throw error;
    return { reason: "KeyUnreadable", message: error.message, remedy: "Try again when the secret manager answers." };
  }
}
