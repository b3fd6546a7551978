import { hash } from "node:crypto";
import type { Settings } from "../../config/settings.ts";
import type { HostKind } from "../../config/webhooks.schema.ts";
import { fullNameOf, type Repository } from "../../crds/repository/repository.ts";
import type { Clock } from "../kit/time/clock.ts";
import {
  type VerifiedWebhook,
  WebhookKeysMissing,
  WebhookMalformed,
  WebhookRefused,
} from "../ports/facade/webhook-inbox.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { ReceivedWebhook, WebhookFormat, WebhookKeys } from "../ports/webhooks/webhook-format.ts";
import type { WebhookKeySource } from "./webhook-keys.ts";

/** How webhooks are signed and read: as a kind of host does it, or as the REST contract says. */
export type FormatKind = HostKind | "neutral";
export type WebhookFormats = Readonly<Record<FormatKind, WebhookFormat>>;

/** What finding the sender of a webhook takes. */
export interface SenderContext {
  readonly settings: Pick<Settings, "hosts" | "webhooks">;
  readonly repositories: Repositories;
  readonly formats: WebhookFormats;
  readonly keys: WebhookKeySource;
  readonly clock: Clock;
}

/** A repository as a body names it. */
interface Named {
  /** In lower case. */
  readonly fullName: string;
  readonly id: string | undefined;
}

/**
 * Finds who sent a webhook: the Repositories of the name and id in its body whose key made it, in the format of their host.
 *
 * @throws WebhookMalformed, WebhookRefused, WebhookKeysMissing, SecretsUnavailable; see the WebhookInbox port
 */
export async function verifySender(received: ReceivedWebhook, context: SenderContext): Promise<VerifiedWebhook> {
  const payload = parsed(received.bytes);
  if (!namesRepository(payload)) return verifyWithout(received, payload, context);
  const named = context.repositories
    .list()
    .filter((repository) => isNamed(repository, { door: received.door, payload }, context));
  // Whatever is done for a known repository is done for an unknown one too, so that neither time nor answer tells them apart.
  const judged = named.length > 0 ? named : standIn(payload, context);
  const proofs = await Promise.all(judged.map((repository) => proofOf(repository, received, context)));
  const verified = named.filter((_repository, at) => proofs[at] === "fits");
  const [first] = verified;
  if (first === undefined) throw proofs.includes("no key") ? new WebhookKeysMissing() : new WebhookRefused();
  const sameHost = verified.filter(({ spec }) => spec.host === first.spec.host);
  const kind = kindOf(first, context.settings) ?? "neutral";
  const { fullName: sender } = identity(payload, partOf(kind, received.door)) ?? { fullName: "" };
  return { ...readAs(kind, received, payload, context), repositories: sameHost, host: first.spec.host, sender };
}

/** How a Repository's webhooks are signed and read; `undefined` when the settings lack its host. */
export function kindOf({ spec }: Repository, { hosts }: Pick<Settings, "hosts">): FormatKind | undefined {
  if (spec.host === undefined) return "neutral";
  return hosts.find(({ id }) => id === spec.host)?.kind;
}

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const payload: unknown = JSON.parse(bytes.toString("utf8"));
    if (isObject(payload)) return payload;
  } catch (cause) {
    throw new WebhookMalformed("The body is not valid JSON", { cause });
  }
  throw new WebhookMalformed("The body is not a JSON object");
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const namesRepository = (payload: Readonly<Record<string, unknown>>) =>
  isObject(payload.repository) || isObject(payload.project);

type Door = ReceivedWebhook["door"];
type Part = "repository" | "project";

/** Where a body names its repository: GitLab, and pipelines as the contract has them, speak of projects. */
function partOf(kind: FormatKind, door: Door): Part {
  if (kind === "neutral") return door === "pipelinehost" ? "project" : "repository";
  return kind === "gitlab" ? "project" : "repository";
}

function identity(payload: Readonly<Record<string, unknown>>, part: Part): Named | undefined {
  const named = payload[part];
  if (!isObject(named)) return undefined;
  const { id } = named;
  const fullName = part === "project" ? named.path_with_namespace : named.full_name;
  if (typeof fullName !== "string" || fullName === "") return undefined;
  return { fullName: fullName.toLowerCase(), id: Number.isSafeInteger(id) ? String(id) : undefined };
}

/** Whether the body speaks of this Repository, by its name and, where both are known, its id. */
function isNamed(
  repository: Repository,
  { door, payload }: { readonly door: Door; readonly payload: Readonly<Record<string, unknown>> },
  { settings }: SenderContext,
): boolean {
  const kind = kindOf(repository, settings);
  const named = kind && identity(payload, partOf(kind, door));
  if (named === undefined || named.fullName !== fullNameOf(repository).toLowerCase()) return false;
  const { hostId } = repository.spec;
  return hostId === undefined || named.id === undefined || hostId === named.id;
}

type Proof = "fits" | "does not fit" | "no key";

/** A key that was just replaced is found by reading anew. */
async function proofOf(repository: Repository, received: ReceivedWebhook, context: SenderContext): Promise<Proof> {
  const kind = kindOf(repository, context.settings) ?? "neutral";
  const judge = (keys: WebhookKeys) => proof(kind, received, { ...context, keys });
  const cached = judge(await context.keys.keysOf(repository));
  return cached === "fits" ? cached : judge(await context.keys.keysNow(repository));
}

function proof(
  kind: FormatKind,
  received: ReceivedWebhook,
  { formats, keys, clock, settings }: Omit<SenderContext, "keys"> & { readonly keys: WebhookKeys },
): Proof {
  const isByToken = kind === "neutral" && received.door === "pipelinehost";
  if ((isByToken ? keys.pipelineTokens : keys.secrets).length === 0) return "no key";
  const at = { now: clock.now(), replaySeconds: settings.webhooks.replaySeconds };
  return formats[kind].isAuthentic(received, keys, at) ? "fits" : "does not fit";
}

/** The Repository that an unknown one is refused as: always the same for a name, as long as Repositories stay the same. */
function standIn(payload: Readonly<Record<string, unknown>>, { repositories, settings }: SenderContext): Repository[] {
  const known = repositories.list().toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const { fullName } = identity(payload, "repository") ?? identity(payload, "project") ?? { fullName: "" };
  const found = known[hash("sha256", fullName, "buffer").readUInt32BE() % known.length];
  if (found !== undefined) return [found];
  const { secrets, pipelineTokens } = settings.webhooks;
  throw secrets.length + pipelineTokens.length > 0 ? new WebhookRefused() : new WebhookKeysMissing();
}

/** A body without a repository, such as the ping of an organization's hook: the global keys alone. */
async function verifyWithout(
  received: ReceivedWebhook,
  payload: Readonly<Record<string, unknown>>,
  context: SenderContext,
): Promise<VerifiedWebhook> {
  const keys = await context.keys.keysOf(undefined);
  if (keys.secrets.length + keys.pipelineTokens.length === 0) throw new WebhookKeysMissing();
  const kinds = [...new Set<FormatKind>(["neutral", ...context.settings.hosts.map(({ kind }) => kind)])];
  const fitting = kinds.filter((kind) => proof(kind, received, { ...context, keys }) === "fits");
  // The headers of one kind may fit another's signature.
  const kind = fitting.find((one) => context.formats[one].delivery(received).eventName !== "") ?? fitting[0];
  if (kind === undefined) throw new WebhookRefused();
  return { ...readAs(kind, received, payload, context), repositories: [], host: undefined, sender: "" };
}

function readAs(kind: FormatKind, received: ReceivedWebhook, payload: unknown, { formats, clock }: SenderContext) {
  const delivery = formats[kind].delivery(received);
  const { event, reason } = formats[kind].read(delivery, payload, { now: clock.now() });
  return { received, delivery, event, ...(reason === undefined ? {} : { reason }) };
}
