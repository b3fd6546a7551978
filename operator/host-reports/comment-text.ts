import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS } from "../../crds/names.ts";
import type { Report } from "./report.ts";
import type { Subject } from "./subject.ts";

/** In the first line of the comment of an environment; hosts don't show it. */
export const markerOf = (environment: string): string => `<!-- ephemeral-environments: ${environment} -->`;

const TITLES = { pending: "is being prepared", success: "is ready", failure: "failed" } as const;

/** The comment while the environment is there, in Markdown. */
export function commentText(
  environment: EphemeralEnvironment,
  { subject, report, publicUrl = "" }: { subject: Subject; report: Report; publicUrl?: string | undefined },
): string {
  const { name } = environment.metadata;
  const lines = [
    `**Environment ${code(name)} ${TITLES[report.state]}**`,
    ...(report.reason === undefined ? [] : [code(report.reason)]),
    [`- Commit: ${code(subject.commit ?? "")}`, ...serving(environment)].join("\n"),
    ...extension(environment, publicUrl),
    ...companion(environment, subject),
  ];
  return lines.join("\n\n");
}

/** The comment when the environment is gone. */
export const goneText = (environment: string): string => `**Environment ${code(environment)} is gone**`;

/** Addresses and expiry; an environment that never served has no answer at its addresses. */
function serving({ status }: EphemeralEnvironment): string[] {
  if (status?.readyAt === undefined) return [];
  const { urls = {}, expiresAt } = status;
  const ofComponents = COMPONENTS.flatMap((component) => (urls[component] ? [[component, urls[component]]] : []));
  const addresses = [...ofComponents, ...Object.entries(urls.hosts ?? {})].map(([name, url]) => `- ${name}: ${url}`);
  return [...addresses, ...(expiresAt === undefined ? [] : [`- Expires: ${expiresAt}`])];
}

/** The TTL counts from the creation, see the REST contract. */
function extension({ metadata, status }: EphemeralEnvironment, publicUrl: string): string[] {
  if (status?.readyAt === undefined) return [];
  const address = `${publicUrl.replace(/\/+$/, "")}/api/environments/${metadata.name}`;
  return [
    `To keep it for longer: ${code(`PUT ${address}`)} with ${code('{"ttl_hours": …}')}, hours since its creation.`,
  ];
}

/** A pull request of each repository makes two environments. */
function companion({ spec }: EphemeralEnvironment, { name }: Subject): string[] {
  const other = COMPONENTS.map((component) => spec[component]).find((one) => one && one.repository !== name);
  if (other === undefined) return [];
  const { repository, branch } = other;
  return [
    `The other component is ${code(repository)} on ${code(branch)}. A pull request there has an environment of its own.`,
  ];
}

/** Text of others must not be Markdown: it could mention people or load images. */
const code = (text: string) => `\`${text.replaceAll("`", "'")}\``;
