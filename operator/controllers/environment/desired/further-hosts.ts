import type { Settings } from "../../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { furtherHost, hostUrl } from "../../../../crds/names.ts";
import type { ComponentRepositories } from "../repositories.ts";

/** A host that an environment answers at beside those of its components. */
export interface FurtherHost {
  readonly name: string;
  /** Without port. */
  readonly host: string;
  readonly url: string;
  readonly healthPath: string;
}

/** The further hosts of an environment, as its backend's Repository lists them now. */
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
