import { selectorsOf } from "../../../crds/environment/component-selectors.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { titleOf } from "../../../crds/object-title.ts";
import type { Workload } from "../../../operator/ports/api/pods.ts";
import type { NamedObject } from "../../../operator/ports/deployer.ts";
import { HttpError } from "../../errors.ts";
import type { Services } from "../../services.ts";

/** The workloads of the environment, as they are now. */
export function workloadsOf(environment: EphemeralEnvironment, services: Services): Promise<readonly Workload[]> {
  return services.workloads.list(environment.metadata, selectorsOf(environment, services));
}

/**
 * Workload named by `kind/name`, the kind in any case, or by a unique name.
 *
 * @throws HttpError with all names when there is none or more than one
 */
export async function workloadNamed(
  requested: string,
  environment: EphemeralEnvironment,
  services: Services,
): Promise<NamedObject> {
  const all = await workloadsOf(environment, services);
  const [name = "", kind] = requested.split("/").reverse();
  const isMeant = (one: NamedObject) =>
    one.name === name && (kind ?? one.kind).toLowerCase() === one.kind.toLowerCase();
  const [found, ...others] = all.filter(isMeant);
  if (found === undefined) {
    throw new HttpError("not-found", `The environment has no workload '${requested}'; it has ${titlesOf(all)}`);
  }
  if (others.length > 0) {
    throw new HttpError(
      "malformed",
      `workload: '${requested}' is one of ${titlesOf([found, ...others])}: name its kind, too`,
    );
  }
  return { kind: found.kind, name: found.name };
}

const MOST_TITLES = 50;

function titlesOf(workloads: readonly NamedObject[]): string {
  const titles = workloads.slice(0, MOST_TITLES).map(titleOf);
  const rest = workloads.length - titles.length;
  return titles.length === 0 ? "none" : `${titles.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
