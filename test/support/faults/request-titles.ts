import { isDeepStrictEqual } from "node:util";
import { findCondition } from "../../../crds/conditions.ts";
import { recordKind } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { ENVIRONMENT_NAME_LABEL } from "../../../crds/group.ts";
import { type Notification, notificationKind } from "../../../crds/notifications/notification.ts";
import type { RepositoryStatus } from "../../../crds/repository/repository.ts";
import { type WebhookDelivery, webhookDeliveryKind } from "../../../crds/webhooks/webhook-delivery.ts";
import { environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { eventKind, revisionKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeObject } from "../../../operator/kit/client/objects.ts";
import type { KubeRequest } from "../../../operator/kit/client/request.ts";
import { environmentOf } from "./pull-requests/audience.ts";
import { normalised } from "./request-interceptors.ts";

/** An object with a hash as its name: only its creation names its environment. */
interface Hashed {
  readonly environment: string | undefined;
  /** Normalised title. */
  readonly title: string;
}

interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value?: StatusIn;
}

interface StatusIn extends Pick<RepositoryStatus, "lastCheckedAt" | "conditions"> {
  readonly phase?: string;
  readonly feedback?: object;
}

const UID_FORM = /[0-9a-f]{8}-[0-9a-f-]{27}/;

const BY_KIND: Readonly<Record<string, (request: KubeRequest) => string | undefined>> = {
  [recordKind.kind]: ({ body }) =>
    (body as Partial<KubeObject> | undefined)?.metadata?.labels?.[ENVIRONMENT_NAME_LABEL],
  [environmentType.kind]: ({ name }) => name,
  // The operator's own Events are in its namespace, and name no environment.
  [eventKind.kind]: ({ name = "", namespace }) => (namespace === "default" ? /^(.+)\./.exec(name)?.[1] : undefined),
  [repositoryType.kind]: ({ name }) => name && environmentOf(name),
  [revisionKind.kind]: ({ name = "" }) => /^(.+)-[0-9a-f]{8}-\d+$/.exec(name)?.[1],
};

function byPlace({ name, namespace, subresource }: KubeRequest): string | undefined {
  if (namespace === "ephemeral-secrets") return /^(.+)-[0-9a-f]{8}$/.exec(name ?? "")?.[1];
  const place = namespace?.startsWith("env-") ? namespace : name;
  return subresource === undefined && place?.startsWith("env-") ? place.slice("env-".length) : undefined;
}

/** Finds the environment of a request, and names writes without the specifics of environments. */
export class RequestTitles {
  readonly #hashed = new Map<string, Hashed>();
  readonly #feedback = new Map<string, object>();
  readonly #checks = new Map<string, string>();

  /** The environment named in a request; `undefined` for lists, watches, and others. */
  environmentOf(request: KubeRequest): string | undefined {
    if (isHashed(request)) return this.#hashedOf(request)?.environment;
    return (BY_KIND[request.type?.kind ?? ""] ?? byPlace)(request);
  }

  /** The title of a write; distinguishes the patches of one resource. */
  of(request: KubeRequest, environment: string): string {
    if (isHashed(request)) return this.#titleOfHashed(request);
    if (request.type?.kind === repositoryType.kind) return this.#titleOfRepository(request, environment);
    const title = normalised(request, environment)
      .replace(UID_FORM, "UID")
      .replace(/NAME-[0-9a-f]{8}-(\d+)$/, "NAME-UID-$1")
      .replace(/( Secret environment-secrets)-[0-9a-f]{8}$/, "$1-VERSION")
      .replace(/( Secret database-seed)-[0-9a-f]{8}$/, "$1-LOAD");
    return request.verb === "patch" && request.name === environment ? this.#titleOfPatch(title, request) : title;
  }

  #titleOfPatch(title: string, request: KubeRequest): string {
    const { name = "" } = request;
    if (!Array.isArray(request.body)) return `${title}, ${isNote(request) ? "what is noted" : "a change of the spec"}`;
    const [, change] = request.body as PatchOperation[];
    if (change?.path === "/metadata/finalizers") return `${title}, ${change.op === "add" ? "hold" : "release"}`;
    if (change?.path !== "/status") return title;
    const isReported = !isDeepStrictEqual(feedbackIn(request), this.#feedback.get(name) ?? {});
    return `${title}, ${isReported ? "the report to the host" : change.value?.phase}`;
  }

  /** Records a write that the API server accepted: a rejected writer changed nothing. */
  accepted(request: KubeRequest, environment: string): void {
    const isStatus = request.type?.kind === environmentType.kind && request.subresource === "status";
    if (isStatus) this.#feedback.set(environment, feedbackIn(request));
    const { lastCheckedAt } = statusIn(request) ?? {};
    if (lastCheckedAt !== undefined) this.#checks.set(environment, lastCheckedAt);
  }

  #hashedOf(request: KubeRequest): Hashed | undefined {
    const { name = "", body, verb } = request;
    const known = this.#hashed.get(name);
    if (known !== undefined || verb !== "create") return known;
    const made = request.type?.kind === webhookDeliveryKind.kind ? deliveryIn(body) : messageIn(body);
    this.#hashed.set(name, made);
    return made;
  }

  #titleOfHashed(request: KubeRequest): string {
    const kind = [request.type?.kind, request.subresource].filter(Boolean).join("/");
    const title = `${request.verb} ${kind} ${this.#hashedOf(request)?.title}`;
    const { phase } = statusIn(request) ?? {};
    return phase === undefined ? title : `${title}, ${phase}`;
  }

  /** The status of a Repository has two writers: of its check, and of its hook. */
  #titleOfRepository(request: KubeRequest, environment: string): string {
    const [status, title] = [statusIn(request), `${request.verb} Repository`];
    if (status === undefined) return title;
    const isCheck = status.lastCheckedAt !== this.#checks.get(environment);
    const { reason } = findCondition(status.conditions, "WebhookActive") ?? {};
    return `${title}/status, ${isCheck ? "checked" : reason}`;
  }
}

/** True when a merge patch changes annotations alone. */
function isNote({ body }: KubeRequest): boolean {
  return isDeepStrictEqual((body as { readonly spec?: object }).spec, {});
}

function isHashed({ type, name }: KubeRequest): boolean {
  return name !== undefined && (type?.kind === webhookDeliveryKind.kind || type?.kind === notificationKind.kind);
}

function deliveryIn(body: unknown): Hashed {
  const { event, repositories: [repository = ""] = [] } = (body as WebhookDelivery).spec;
  const number = event.pullRequest?.number;
  const environment = number === undefined ? undefined : pullRequestEnvironmentName(repository, number);
  return { environment, title: event.pullRequest?.action ?? event.type };
}

function messageIn(body: unknown): Hashed {
  const { environment, channel, event, facts } = (body as Notification).spec;
  const about = environment?.name ?? (facts.repository && environmentOf(facts.repository));
  return { environment: about, title: `${channel} ${event}` };
}

function feedbackIn(request: KubeRequest): object {
  return statusIn(request)?.feedback ?? {};
}

/** `undefined` unless the request patches a status. */
function statusIn(request: KubeRequest): StatusIn | undefined {
  const [, change] = Array.isArray(request.body) ? (request.body as PatchOperation[]) : [];
  return change?.path === "/status" ? change.value : undefined;
}
