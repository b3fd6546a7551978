import { recordKind } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { ENVIRONMENT_NAME_LABEL } from "../../../crds/group.ts";
import type { Notification } from "../../../crds/notifications/notification.ts";
import { notificationKind } from "../../../crds/notifications/notification.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import { webhookDeliveryKind } from "../../../crds/webhooks/webhook-delivery.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { revisionKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeObject } from "../../../operator/kit/client/objects.ts";
import type { KubeRequest } from "../../../operator/kit/client/request.ts";
import { normalised } from "./request-seams.ts";

/** An object whose name is a hash: only its creation says what it is about. */
interface Hashed {
  readonly environment: string | undefined;
  /** In general words. */
  readonly title: string;
}

interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value?: { readonly phase?: string; readonly feedback?: object };
}

const UID_FORM = /[0-9a-f]{8}-[0-9a-f-]{27}/;

/** Tells which environment a request is about, and names writes without what differs between environments. */
export class RequestTitles {
  readonly #hashed = new Map<string, Hashed>();
  /** What statuses say that hosts were told, by environment. */
  readonly #feedback = new Map<string, string>();

  /** The environment that a request is about, by the names in it; `undefined` for lists, watches, and others. */
  environmentOf(request: KubeRequest): string | undefined {
    const { name, namespace, type, subresource } = request;
    if (isHashed(request)) return this.#hashedOf(request)?.environment;
    if (type?.kind === recordKind.kind) {
      return (request.body as { metadata?: KubeObject["metadata"] } | undefined)?.metadata?.labels?.[
        ENVIRONMENT_NAME_LABEL
      ];
    }
    if (type?.kind === environmentType.kind) return name;
    if (type?.kind === revisionKind.kind) return /^(.+)-[0-9a-f]{8}-\d+$/.exec(name ?? "")?.[1];
    if (namespace === "ephemeral-secrets") return /^(.+)-[0-9a-f]{8}$/.exec(name ?? "")?.[1];
    const place = namespace?.startsWith("env-") ? namespace : name;
    return subresource === undefined && place?.startsWith("env-") ? place.slice("env-".length) : undefined;
  }

  /** The title of a write; the several patches of one resource are told apart. */
  of(request: KubeRequest, environment: string): string {
    if (isHashed(request)) return this.#titleOfHashed(request);
    const title = normalised(request, environment)
      .replace(UID_FORM, "UID")
      .replace(/NAME-[0-9a-f]{8}-(\d+)$/, "NAME-UID-$1")
      .replace(/( Secret environment-secrets)-[0-9a-f]{8}$/, "$1-VERSION");
    if (request.verb !== "patch" || request.name !== environment) return title;
    if (!Array.isArray(request.body)) return `${title}, a change of the spec`;
    const [, change] = request.body as PatchOperation[];
    if (change?.path === "/metadata/finalizers") return `${title}, ${change.op === "add" ? "hold" : "release"}`;
    if (change?.path !== "/status") return title;
    const isTold = feedbackIn(request) !== (this.#feedback.get(environment) ?? feedbackIn(undefined));
    return `${title}, ${isTold ? "what the host was told" : change.value?.phase}`;
  }

  /** To be called with every write that is sent. */
  sent(request: KubeRequest, environment: string): void {
    const isStatus = request.type?.kind === environmentType.kind && request.subresource === "status";
    if (isStatus) this.#feedback.set(environment, feedbackIn(request));
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
    const [, change] = Array.isArray(request.body) ? (request.body as PatchOperation[]) : [];
    return change?.value?.phase === undefined ? title : `${title}, ${change.value.phase}`;
  }
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
  const { environment, channel, event } = (body as Notification).spec;
  return { environment: environment?.name, title: `${channel} ${event}` };
}

/** What a status says that its host was told. */
function feedbackIn(request: KubeRequest | undefined): string {
  const [, change] = Array.isArray(request?.body) ? (request.body as PatchOperation[]) : [];
  return JSON.stringify(change?.value?.feedback ?? {});
}
