import { type Component, componentHost, furtherHost, hostUrl } from "../names.ts";
import type { Repository } from "../repository/repository.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/** The settings that make URLs of hosts. */
interface UrlSettings {
  readonly baseDomain: string;
  readonly publicPort: number;
}

type Named = Pick<EphemeralEnvironment, "metadata">;

/** URL of a component; it follows from the name. */
export function componentUrl(
  { metadata }: Named,
  component: Component,
  { baseDomain, publicPort }: UrlSettings,
): string {
  return hostUrl(componentHost(metadata.name, component, baseDomain), publicPort);
}

/** Hosts of an environment beside those of its components, without port, by its backend's current Repository. */
export function furtherHostsOf(
  { metadata }: Named,
  { backend }: { readonly backend?: Repository },
  { baseDomain, publicPort }: UrlSettings,
) {
  return (backend?.spec.hosts ?? []).map(({ name, healthPath = "/" }) => {
    const host = furtherHost(metadata.name, name, baseDomain);
    return { name, host, url: hostUrl(host, publicPort), healthPath };
  });
}
