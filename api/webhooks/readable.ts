import { UnknownRepository } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import { type Caller, mayRead, permissionsOf, visibleTo } from "../auth/access.ts";
import { HttpError } from "../errors.ts";
import type { Services } from "../services.ts";
import type { Visible } from "./delivery-views.ts";

/**
 * True when the caller may read all Repositories of the delivery. Deliveries of none, such as unverified ones, and of
 * deleted ones are for maintainers.
 */
export function isReadable({ spec }: WebhookDelivery, caller: Caller, { repositories }: Services): boolean {
  if (permissionsOf(caller.roles).has("webhooks:manage")) return true;
  const names = spec.repositories ?? [];
  const may = (name: string) => {
    const repository = repositories.find(name);
    return repository !== undefined && mayRead(caller, repository, "repos:reload");
  };
  return names.length > 0 && names.every(may);
}

/** Delivery of that id. @throws HttpError (not-found) also for an unreadable one */
export function readableDelivery(id: string, caller: Caller, services: Services): WebhookDelivery {
  const found = services.webhookDeliveries.find(id);
  if (found === undefined || !isReadable(found, caller, services))
    throw new HttpError("not-found", "Delivery not found");
  return found;
}

/** Repository of that id. @throws UnknownRepository also for an unreadable one */
export function readableRepository(id: string, caller: Caller, { repositories }: Services): Repository {
  const found = repositories.find(id);
  if (found === undefined || !mayRead(caller, found, "repos:reload")) throw new UnknownRepository();
  return found;
}

/**
 * Omits an outcome's invisible environments. The owner of a deleted one is unknown: only callers with access to all see
 * it.
 */
export function visibleOnly(caller: Caller, { environments }: Services): Visible {
  if (caller.permissions.has("environments:all")) return (all) => all;
  const isVisible = visibleTo(caller);
  const visible = () => environments.list().filter(({ spec }) => isVisible(spec));
  let known: ReadonlySet<string> | undefined;
  return (all) => {
    if (all.length === 0) return all;
    known ??= new Set(visible().map(({ metadata }) => metadata.uid));
    return all.filter(({ uid }) => known?.has(uid));
  };
}

/** Name of an environment; null if it is invisible to the caller, or missing. */
export async function visibleName(
  name: string | undefined,
  caller: Caller,
  { environments }: Services,
): Promise<string | null> {
  const found = name === undefined ? undefined : await environments.find(name);
  return name === undefined || (found !== undefined && !visibleTo(caller)(found.spec)) ? null : name;
}
