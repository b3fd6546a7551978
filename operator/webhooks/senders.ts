import { hash } from "node:crypto";
import type { Settings } from "../../config/settings.ts";
import type { HostKind } from "../../config/webhooks.schema.ts";
import { isJsonObject } from "../../crds/json.ts";
import { fullNameOf, hostIdOf, hostOf, type Repository } from "../../crds/repository/repository.ts";
import type { BodyMemory, HeldBytes } from "../kit/body-memory.ts";
import type { Clock } from "../kit/time/clock.ts";
import { type VerifiedWebhook, WebhookKeysMissing, WebhookRefused } from "../ports/api/webhook-inbox.ts";
import type { Repositories } from "../ports/repositories.ts";
import type {
  ArrivingWebhook,
  Authentication,
  ReceivedWebhook,
  RepositoryField,
  WebhookFormat,
  WebhookKeys,
} from "../ports/webhooks/webhook-format.ts";
import { namesRepository, readBody } from "./arriving-body.ts";
import type { WebhookKeySource } from "./webhook-keys.ts";

/** The settings and ports that find the sender of a webhook. */
export interface WebhookSenderDependencies {
  readonly settings: Pick<Settings, "hosts" | "webhooks">;
  readonly repositories: Repositories;
  readonly formats: WebhookFormats;
  readonly keys: WebhookKeySource;
  readonly clock: Clock;
}

interface Named {
  readonly fullName: string;
  readonly id: string | undefined;
  /** Clone URL; unchecked. */
  readonly url: unknown;
}

/**
 * Reads a webhook and finds its sender: the Repositories named in its body whose key made it, in their host's format. A
 * small body is held; a large one goes through its repository's keys as it arrives.
 *
 * @throws WebhookMalformed, WebhookTooLarge, WebhookRefused, WebhookKeysMissing, InboxFull, SecretsUnavailable; see the
 * WebhookInbox port
 */
export async function verifySender(
  { chunks, ...received }: ArrivingWebhook,
  context: WebhookSenderDependencies,
  bodies: BodyMemory,
): Promise<VerifiedWebhook> {
  const held = bodies.begin();
  try {
    const most = context.settings.webhooks.maxBodyBytes;
    const checksFor = (payload: Payload) => runningChecks(payload, received, context);
    const { checks, ...body } = await readBody({ ...received, chunks }, { most, held, checksFor });
    const read: ReadWebhook = { received, ...body };
    if (checks !== undefined) return verifiedBy(checks.named, checks.proofs(), read, context);
    if (!namesRepository(body.payload)) return await verifyWithout(read, held, context);
    const { named, tried } = candidates(body.payload, received, context);
    const proofs = await Promise.all(tried.map((repository) => proofOf(repository, { received, held }, context)));
    return verifiedBy(named, proofs, read, context);
  } finally {
    held.drop();
  }
}

type Payload = Readonly<Record<string, unknown>>;

interface ReadWebhook {
  readonly received: ReceivedWebhook;
  readonly payload: Payload;
  readonly digest: string;
}

/** Repositories named by a body, and those whose keys are tried. */
function candidates(payload: Payload, received: ReceivedWebhook, context: WebhookSenderDependencies) {
  const named = namedBy(payload, received, context);
  // An unknown repository gets the same work as a known one, so that neither time nor answer distinguishes them.
  return { named, tried: named.length > 0 ? named : standIn(payload, context) };
}

/** Checks of an arriving body. Its bytes pass once, so fresh keys are read. */
async function runningChecks(payload: Payload, received: ReceivedWebhook, context: WebhookSenderDependencies) {
  const { named, tried } = candidates(payload, received, context);
  const running = await Promise.all(
    tried.map(async (repository) => {
      const kind = formatKindOf(repository.spec, context.settings) ?? "neutral";
      return authentication(kind, received, { ...context, keys: await context.keys.keysNow(repository) });
    }),
  );
  return {
    named,
    proofs: () => running.map(resultOf),
    update(bytes: Buffer) {
      for (const one of running) one?.update(bytes);
    },
  };
}

/** @param proofs of the named Repositories, in order; of the stand-in without any */
function verifiedBy(
  named: readonly Repository[],
  proofs: readonly Proof[],
  read: ReadWebhook,
  context: WebhookSenderDependencies,
): VerifiedWebhook {
  const verified = named.filter((_repository, at) => proofs[at] === "fits");
  const first = firstAtPlace(verified, read, context) ?? verified[0];
  if (first === undefined) throw proofs.includes("no key") ? new WebhookKeysMissing() : new WebhookRefused();
  const sameHost = verified.filter(({ spec }) => spec.host === first.spec.host);
  const format = formatOf(first.spec, context);
  const { fullName = "", id } = identity(read.payload, format.repositoryField(read.received)) ?? {};
  const { host } = first.spec;
  const hostRepository =
    host === undefined || id === undefined || !isStorable(id, fullName) ? {} : { hostRepository: { id, fullName } };
  const sender = fullName.toLowerCase();
  return { ...readAs(format, read, context), repositories: sameHost, host, sender, ...hostRepository };
}

/** Hosts may have repositories of one name, and share a key: then the body's address decides. */
function firstAtPlace(
  verified: readonly Repository[],
  { payload, received }: ReadWebhook,
  context: WebhookSenderDependencies,
) {
  return verified.find((repository) => {
    const named = identity(payload, formatOf(repository.spec, context).repositoryField(received));
    return named !== undefined && isAtPlaceOf(repository, named, context.settings);
  });
}

const isStorable = (id: string, fullName: string) => /^[1-9][0-9]{0,18}$/.test(id) && fullName.length <= 200;

function identity(payload: Payload, part: RepositoryField): Named | undefined {
  const named = payload[part];
  if (!isJsonObject(named)) return undefined;
  const { id } = named;
  const [fullName, url] =
    part === "project" ? [named.path_with_namespace, named.git_http_url] : [named.full_name, named.clone_url];
  if (typeof fullName !== "string" || fullName === "") return undefined;
  return { fullName, url, id: Number.isSafeInteger(id) ? String(id) : undefined };
}

/**
 * Repositories of the body's name, else of its id, for a rename on the host. Ids are per host: a renamed repository
 * must be on the Repository's host.
 */
function namedBy(
  payload: Payload,
  received: ReceivedWebhook,
  { repositories, settings, formats }: WebhookSenderDependencies,
): readonly Repository[] {
  const identities = { repository: identity(payload, "repository"), project: identity(payload, "project") };
  const all = repositories.list().flatMap((repository) => {
    const kind = formatKindOf(repository.spec, settings);
    const given = kind && identities[formats[kind].format.repositoryField(received)];
    return given === undefined ? [] : [{ repository, given }];
  });
  const called = all.filter(({ repository, given }) => {
    const id = hostIdOf(repository);
    const isOther = id !== undefined && given.id !== undefined && id !== given.id;
    return !isOther && given.fullName.toLowerCase() === fullNameOf(repository).toLowerCase();
  });
  const renamed = all.filter(({ repository, given }) => {
    const isKnown = given.id !== undefined && hostIdOf(repository) === given.id;
    return isKnown && isAtPlaceOf(repository, given, settings);
  });
  return (called.length > 0 ? called : renamed).map(({ repository }) => repository);
}

interface HostSettings {
  readonly hosts: Settings["hosts"];
}

/** True when the body's address is on the Repository's host, or on that of its API in the settings. */
function isAtPlaceOf({ spec }: Repository, { url }: Named, settings: HostSettings): boolean {
  const place = placeOf(url);
  const apiUrl = hostOf(spec, settings)?.apiUrl;
  return place !== undefined && [placeOf(spec.cloneUrl), placeOf(apiUrl)].includes(place);
}

const placeOf = (url: unknown): string | undefined =>
  typeof url === "string" && URL.canParse(url) ? new URL(url).host : undefined;

type Proof = "fits" | "does not fit" | "no key";

/** Reads again for a key that was just replaced. */
async function proofOf(
  repository: Repository,
  webhook: HeldWebhook,
  context: WebhookSenderDependencies,
): Promise<Proof> {
  const kind = formatKindOf(repository.spec, context.settings) ?? "neutral";
  const proofBy = (keys: WebhookKeys) => proof(kind, webhook, { ...context, keys });
  const cached = proofBy(await context.keys.keysOf(repository));
  return cached === "fits" ? cached : proofBy(await context.keys.keysNow(repository));
}

interface HeldWebhook {
  readonly received: ReceivedWebhook;
  readonly held: HeldBytes;
}

type ProofContext = Omit<WebhookSenderDependencies, "keys"> & { readonly keys: WebhookKeys };

function proof(kind: FormatKind, { received, held }: HeldWebhook, context: ProofContext): Proof {
  const check = authentication(kind, received, context);
  for (const piece of held.pieces()) check?.update(piece);
  return resultOf(check);
}

/** `undefined` without a key. */
function authentication(
  kind: FormatKind,
  received: ReceivedWebhook,
  { formats, keys, clock, settings }: ProofContext,
): Authentication | undefined {
  const isByToken = kind === "neutral" && received.source === "pipelinehost";
  if ((isByToken ? keys.pipelineTokens : keys.secrets).length === 0) return undefined;
  const at = { now: clock.now(), replaySeconds: settings.webhooks.replaySeconds };
  return formats[kind].format.authentication(received, keys, at);
}

function resultOf(check: Authentication | undefined): Proof {
  if (check === undefined) return "no key";
  return check.isAuthentic() ? "fits" : "does not fit";
}

/** Stand-in Repository that an unknown one is refused as: constant per name while Repositories stay the same. */
function standIn(payload: Payload, { repositories, settings }: WebhookSenderDependencies): Repository[] {
  const known = repositories.list().toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const { fullName = "" } = identity(payload, "repository") ?? identity(payload, "project") ?? {};
  const repository = known[hash("sha256", fullName.toLowerCase(), "buffer").readUInt32BE() % known.length];
  if (repository !== undefined) return [repository];
  const { secrets, pipelineTokens } = settings.webhooks;
  throw secrets.length + pipelineTokens.length > 0 ? new WebhookRefused() : new WebhookKeysMissing();
}

/** A body without a repository, such as the ping of an organization's hook: only the global keys. */
async function verifyWithout(
  read: ReadWebhook,
  held: HeldBytes,
  context: WebhookSenderDependencies,
): Promise<VerifiedWebhook> {
  const { received } = read;
  const keys = await context.keys.keysOf(undefined);
  if (keys.secrets.length + keys.pipelineTokens.length === 0) throw new WebhookKeysMissing();
  const kinds = [...new Set<FormatKind>(["neutral", ...context.settings.hosts.map(({ kind }) => kind)])];
  const fitting = kinds.filter((kind) => proof(kind, { received, held }, { ...context, keys }) === "fits");
  // The headers of one kind may fit another's signature.
  const kind = fitting.find((one) => context.formats[one].format.delivery(received).eventName !== "") ?? fitting[0];
  if (kind === undefined) throw new WebhookRefused();
  return { ...readAs(context.formats[kind].format, read, context), repositories: [], host: undefined, sender: "" };
}

function readAs(format: WebhookFormat, read: ReadWebhook, { clock }: WebhookSenderDependencies) {
  const { received, payload, digest } = read;
  const delivery = format.delivery(received);
  const { event, reason } = format.read(delivery, payload, { now: clock.now() });
  return { received, delivery, digest, event, ...(reason !== undefined && { reason }) };
}

/** The form in which webhooks are signed and read: that of a kind of host, or the REST contract's. */
export type FormatKind = HostKind | "neutral";
/** The format of each form. A technology of hosts is one of them. */
export type WebhookFormats = Readonly<Record<FormatKind, { readonly format: WebhookFormat }>>;

/** The form of webhooks of a Repository or a delivery; `undefined` when the settings lack the host that it names. */
function formatKindOf(
  { host }: { readonly host?: string | undefined },
  settings: HostSettings,
): FormatKind | undefined {
  return host === undefined ? "neutral" : hostOf({ host }, settings)?.kind;
}

/** The format of a Repository or a delivery; the REST contract's where the settings lack the host that it names. */
export function formatOf(
  named: { readonly host?: string | undefined },
  { settings, formats }: { readonly settings: HostSettings; readonly formats: WebhookFormats },
): WebhookFormat {
  return formats[formatKindOf(named, settings) ?? "neutral"].format;
}
