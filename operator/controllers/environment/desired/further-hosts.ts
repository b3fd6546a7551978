import type { Settings } from "../../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { furtherHost, hostUrl } from "../../../../crds/names.ts";
import type { ComponentRepositories } from "../repositories.ts";

/** A host of an environment beside the hosts of its components. */
export interface FurtherHost {
  readonly name: string;
  /** Without port. */
  readonly host: string;
  readonly url: string;
  readonly healthPath: string;
}

/** Further hosts of an environment, by its backend's current Repository. */
export function furtherHostsOf(
  { metadata }: EphemeralEnvironment,
  { backend }: ComponentRepositories,
  { baseDomain, publicPort }: Pick<Settings, "baseDomain" | "publicPort">,
): readonly FurtherHost[] {
  return (backend?.spec.hosts ?? []).map(({ name, healthPath = "/" }) => {
    const host = furtherHost(metadata.name, name, baseDomain);
    return { name, host, url: hostUrl(host, publicPort), healthPath };
  });
}
