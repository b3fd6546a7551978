import { hash } from "node:crypto";
import type { Settings } from "../../config/settings.ts";
import type { HostKind } from "../../config/webhooks.schema.ts";
import { fullNameOf, hostIdOf, type Repository } from "../../crds/repository/repository.ts";
import type { Clock } from "../kit/time/clock.ts";
import { type VerifiedWebhook, WebhookKeysMissing, WebhookRefused } from "../ports/facade/webhook-inbox.ts";
import type { Repositories } from "../ports/repositories.ts";
import type {
  ArrivingWebhook,
  Authentication,
  ReceivedWebhook,
  WebhookFormat,
  WebhookKeys,
} from "../ports/webhooks/webhook-format.ts";
import { isObject, namesRepository, readBody } from "./arriving-body.ts";
import type { HeldBodies, HeldBody } from "./held-bodies.ts";
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
  readonly fullName: string;
  readonly id: string | undefined;
  /** Where it can be cloned; whatever the body has there. */
  readonly url: unknown;
}

/**
 * Reads a webhook and finds who sent it: the Repositories of the name and id in its body whose key made it, in the format of their
 * host. Of a body that is not large all bytes are held until it has ended; those of a large one go through the keys of the
 * repository that it names as they arrive.
 *
 * @param bodies the room for what is held, which all webhooks share
 * @throws WebhookMalformed, WebhookTooLarge, WebhookRefused, WebhookKeysMissing, InboxFull, SecretsUnavailable; see the WebhookInbox port
 */
export async function verifySender(
  { chunks, ...received }: ArrivingWebhook,
  context: SenderContext,
  bodies: HeldBodies,
): Promise<VerifiedWebhook> {
  const held = bodies.begin();
  try {
    const most = context.settings.webhooks.maxBodyBytes;
    const checksFor = (payload: Payload) => runningChecks(payload, received, context);
    const { checks, ...body } = await readBody({ ...received, chunks }, { most, held, checksFor });
    const read: ReadWebhook = { received, ...body };
    if (checks !== undefined) return verifiedBy(checks.named, checks.proofs(), read, context);
    if (!namesRepository(body.payload)) return await verifyWithout(read, held, context);
    const { named, judged } = candidates(body.payload, received, context);
    const proofs = await Promise.all(judged.map((repository) => proofOf(repository, { received, held }, context)));
    return verifiedBy(named, proofs, read, context);
  } finally {
    held.drop();
  }
}

type Payload = Readonly<Record<string, unknown>>;

/** A webhook that was read to its end. */
interface ReadWebhook {
  readonly received: ReceivedWebhook;
  readonly payload: Payload;
  readonly digest: string;
}

/** The Repositories that a body names, and those whose keys are tried. */
function candidates(payload: Payload, { door }: ReceivedWebhook, context: SenderContext) {
  const named = namedBy({ door, payload }, context);
  // Whatever is done for a known repository is done for an unknown one too, so that neither time nor answer tells them apart.
  return { named, judged: named.length > 0 ? named : standIn(payload, context) };
}

/** The checks of a body while it arrives. Its bytes pass once, so the keys are those of a moment ago. */
async function runningChecks(payload: Payload, received: ReceivedWebhook, context: SenderContext) {
  const { named, judged } = candidates(payload, received, context);
  const running = await Promise.all(
    judged.map(async (repository) => {
      const keys = await context.keys.keysNow(repository);
      return authentication(kindOf(repository, context.settings) ?? "neutral", received, { ...context, keys });
    }),
  );
  return {
    named,
    proofs: () => running.map(proofBy),
    update(bytes: Buffer) {
      for (const one of running) one?.update(bytes);
    },
  };
}

/** @param proofs of the named Repositories, in their order; where none is named, of that which stood in */
function verifiedBy(
  named: readonly Repository[],
  proofs: readonly Proof[],
  read: ReadWebhook,
  context: SenderContext,
): VerifiedWebhook {
  const verified = named.filter((_repository, at) => proofs[at] === "fits");
  const [first] = verified;
  if (first === undefined) throw proofs.includes("no key") ? new WebhookKeysMissing() : new WebhookRefused();
  const sameHost = verified.filter(({ spec }) => spec.host === first.spec.host);
  const kind = kindOf(first, context.settings) ?? "neutral";
  const { fullName = "", id } = identity(read.payload, partOf(kind, read.received.door)) ?? {};
  const { host } = first.spec;
  return {
    ...readAs(kind, read, context),
    repositories: sameHost,
    host,
    sender: fullName.toLowerCase(),
    ...(host === undefined || id === undefined || !isStorable(id, fullName)
      ? {}
      : { hostRepository: { id, fullName } }),
  };
}

/** How a Repository's webhooks are signed and read; `undefined` when the settings lack its host. */
export function kindOf({ spec }: Repository, { hosts }: Pick<Settings, "hosts">): FormatKind | undefined {
  if (spec.host === undefined) return "neutral";
  return hosts.find(({ id }) => id === spec.host)?.kind;
}

const isStorable = (id: string, fullName: string) => /^[1-9][0-9]{0,18}$/.test(id) && fullName.length <= 200;

type Door = ReceivedWebhook["door"];
type Part = "repository" | "project";

/** Where a body names its repository: GitLab, and pipelines as the contract has them, speak of projects. */
function partOf(kind: FormatKind, door: Door): Part {
  if (kind === "neutral") return door === "pipelinehost" ? "project" : "repository";
  return kind === "gitlab" ? "project" : "repository";
}

function identity(payload: Payload, part: Part): Named | undefined {
  const named = payload[part];
  if (!isObject(named)) return undefined;
  const { id } = named;
  const [fullName, url] =
    part === "project" ? [named.path_with_namespace, named.git_http_url] : [named.full_name, named.clone_url];
  if (typeof fullName !== "string" || fullName === "") return undefined;
  return { fullName, url, id: Number.isSafeInteger(id) ? String(id) : undefined };
}

interface Body {
  readonly door: Door;
  readonly payload: Payload;
}

/**
 * The Repositories of the name that a body gives; where there are none, those of its id, which the host has renamed. An id is one of
 * its host: a renamed repository must be at the place of the Repository's, so that a small number means no repository of another host.
 */
function namedBy(body: Body, { repositories, settings }: SenderContext): readonly Repository[] {
  const identities = {
    repository: identity(body.payload, "repository"),
    project: identity(body.payload, "project"),
  } satisfies Record<Part, unknown>;
  const all = repositories.list().flatMap((repository) => {
    const kind = kindOf(repository, settings);
    const given = kind && identities[partOf(kind, body.door)];
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

/** Whether the host of an address in the body is that of the Repository's, or of its API in the settings. */
function isAtPlaceOf({ spec }: Repository, { url }: Named, { hosts }: Pick<Settings, "hosts">): boolean {
  const place = placeOf(url);
  const apiUrl = hosts.find(({ id }) => id === spec.host)?.apiUrl;
  return place !== undefined && [placeOf(spec.cloneUrl), placeOf(apiUrl)].includes(place);
}

const placeOf = (url: unknown): string | undefined =>
  typeof url === "string" && URL.canParse(url) ? new URL(url).host : undefined;

type Proof = "fits" | "does not fit" | "no key";

/** A key that was just replaced is found by reading anew. */
async function proofOf(repository: Repository, webhook: HeldWebhook, context: SenderContext): Promise<Proof> {
  const kind = kindOf(repository, context.settings) ?? "neutral";
  const judge = (keys: WebhookKeys) => proof(kind, webhook, { ...context, keys });
  const cached = judge(await context.keys.keysOf(repository));
  return cached === "fits" ? cached : judge(await context.keys.keysNow(repository));
}

/** A webhook whose bytes are all at hand. */
interface HeldWebhook {
  readonly received: ReceivedWebhook;
  readonly held: HeldBody;
}

type ProofContext = Omit<SenderContext, "keys"> & { readonly keys: WebhookKeys };

function proof(kind: FormatKind, { received, held }: HeldWebhook, context: ProofContext): Proof {
  const check = authentication(kind, received, context);
  for (const piece of held.pieces()) check?.update(piece);
  return proofBy(check);
}

/** `undefined` where there is no key. */
function authentication(
  kind: FormatKind,
  received: ReceivedWebhook,
  { formats, keys, clock, settings }: ProofContext,
): Authentication | undefined {
  const isByToken = kind === "neutral" && received.door === "pipelinehost";
  if ((isByToken ? keys.pipelineTokens : keys.secrets).length === 0) return undefined;
  const at = { now: clock.now(), replaySeconds: settings.webhooks.replaySeconds };
  return formats[kind].authentication(received, keys, at);
}

function proofBy(check: Authentication | undefined): Proof {
  if (check === undefined) return "no key";
  return check.isAuthentic() ? "fits" : "does not fit";
}

/** The Repository that an unknown one is refused as: always the same for a name, as long as Repositories stay the same. */
function standIn(payload: Payload, { repositories, settings }: SenderContext): Repository[] {
  const known = repositories.list().toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const { fullName = "" } = identity(payload, "repository") ?? identity(payload, "project") ?? {};
  const found = known[hash("sha256", fullName.toLowerCase(), "buffer").readUInt32BE() % known.length];
  if (found !== undefined) return [found];
  const { secrets, pipelineTokens } = settings.webhooks;
  throw secrets.length + pipelineTokens.length > 0 ? new WebhookRefused() : new WebhookKeysMissing();
}

/** A body without a repository, such as the ping of an organization's hook: the global keys alone. */
async function verifyWithout(read: ReadWebhook, held: HeldBody, context: SenderContext): Promise<VerifiedWebhook> {
  const { received } = read;
  const keys = await context.keys.keysOf(undefined);
  if (keys.secrets.length + keys.pipelineTokens.length === 0) throw new WebhookKeysMissing();
  const kinds = [...new Set<FormatKind>(["neutral", ...context.settings.hosts.map(({ kind }) => kind)])];
  const fitting = kinds.filter((kind) => proof(kind, { received, held }, { ...context, keys }) === "fits");
  // The headers of one kind may fit another's signature.
  const kind = fitting.find((one) => context.formats[one].delivery(received).eventName !== "") ?? fitting[0];
  if (kind === undefined) throw new WebhookRefused();
  return { ...readAs(kind, read, context), repositories: [], host: undefined, sender: "" };
}

function readAs(kind: FormatKind, { received, payload, digest }: ReadWebhook, { formats, clock }: SenderContext) {
  const delivery = formats[kind].delivery(received);
  const { event, reason } = formats[kind].read(delivery, payload, { now: clock.now() });
  return { received, delivery, digest, event, ...(reason === undefined ? {} : { reason }) };
}
