import { UnknownRepository } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import { type Caller, mayRead, permissionsOf, visibleTo } from "../auth/access.ts";
import { HttpError } from "../errors.ts";
import type { Services } from "../services.ts";

/**
 * Whether the caller may read a delivery: that of Repositories which the caller may all read. Those of no Repository, as
 * unverified ones are, and of Repositories that are gone, are for maintainers.
 */
export function isReadable(
  { spec }: WebhookDelivery,
  caller: Caller,
  { repositories }: Pick<Services, "repositories">,
): boolean {
  if (permissionsOf(caller.roles).has("webhooks:manage")) return true;
  const names = spec.repositories ?? [];
  const may = (name: string) => {
    const repository = repositories.find(name);
    return repository !== undefined && mayRead(caller, repository, "repos:reload");
  };
  return names.length > 0 && names.every(may);
}

/** The delivery of that id. @throws HttpError (not-found) also for one that the caller may not read */
export function readableDelivery(id: string, caller: Caller, services: Services): WebhookDelivery {
  const found = services.webhookDeliveries.find(id);
  if (found === undefined || !isReadable(found, caller, services))
    throw new HttpError("not-found", "Delivery not found");
  return found;
}

/** The Repository of that id. @throws UnknownRepository also for one that the caller may not read */
export function readableRepository(id: string, caller: Caller, { repositories }: Services): Repository {
  const found = repositories.find(id);
  if (found === undefined || !mayRead(caller, found, "repos:reload")) throw new UnknownRepository();
  return found;
}

/** What may be a name in a sentence. */
const QUOTED = /'([a-z][a-z0-9-]*)'/g;

/** Takes the names of environments that the caller may not see out of sentences; looks each name up once. */
export function withoutInvisible(caller: Caller, { environments }: Services) {
  const isVisible = visibleTo(caller);
  const known = new Map<string, Promise<boolean>>();
  const isHidden = async (name: string) => {
    const found = await environments.find(name);
    return found !== undefined && !isVisible(found.spec);
  };
  const hides = (name: string) => {
    const looked = known.get(name) ?? isHidden(name);
    known.set(name, looked);
    return looked;
  };
  return {
    /** The name; null when it is hidden, or there is none. */
    async name(name: string | undefined): Promise<string | null> {
      return name === undefined || (await hides(name)) ? null : name;
    },
    async sentence(sentence: string): Promise<string> {
      const names = [...sentence.matchAll(QUOTED)].map(([, name = ""]) => name);
      const hidden = (await Promise.all(names.map(async (name) => ((await hides(name)) ? [name] : [])))).flat();
      return hidden.reduce((text, name) => text.replaceAll(`'${name}'`, "that you may not see"), sentence);
    },
  };
}
