import { DELETION_CAUSE_ANNOTATION, type ManagedFields } from "../group.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";
import { DELETION_CAUSES, type DeletionCause } from "./manifest.schema.ts";

/** Tools that keep environments as Git has them. */
export const GIT_OPS_TOOLS = ["argocd", "flux"] as const;
export type GitOpsTool = (typeof GIT_OPS_TOOLS)[number];

/** Argo CD marks what it makes with this annotation or this label, as its setting `application.resourceTrackingMethod` says. */
export const ARGOCD_TRACKING_ANNOTATION = "argocd.argoproj.io/tracking-id";
/** Label whose value is the name of the application; the annotation's begins with that name and a colon. */
export const ARGOCD_LABEL = "app.kubernetes.io/instance";
/** Flux's kustomize-controller and helm-controller mark what they make. */
const FLUX_LABELS = ["kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"];

const FIELD_MANAGERS: Readonly<Record<GitOpsTool, readonly string[]>> = {
  argocd: ["argocd-controller", "argocd-application-controller"],
  flux: ["kustomize-controller", "helm-controller"],
};

type Marked = Pick<EphemeralEnvironment, "metadata">;

/** GitOps tool that keeps the environment as Git has it, by its marks. */
export function managedBy({ metadata: { annotations = {}, labels = {} } }: Marked): GitOpsTool | undefined {
  if (FLUX_LABELS.some((label) => label in labels)) return "flux";
  return ARGOCD_TRACKING_ANNOTATION in annotations || ARGOCD_LABEL in labels ? "argocd" : undefined;
}

/** Fields by the GitOps tool of a freshly read environment; empty when nothing counts now. */
export function writtenFromGit(environment: Marked): readonly ManagedFields[] {
  const tool = managedBy(environment);
  if (tool === undefined) return [];
  const { managedFields = [] } = environment.metadata;
  const isTools = ({ manager = "", subresource }: ManagedFields) =>
    subresource === undefined && FIELD_MANAGERS[tool].includes(manager);
  return managedFields.filter(isTools);
}

/** True when Git or a webhook may bring it back, so that the cause of its deletion matters. */
export function mayReturn(environment: Pick<EphemeralEnvironment, "metadata" | "spec">): boolean {
  return managedBy(environment) !== undefined || isMadeByEvent(environment);
}

/** True when a pull request or a pipeline made the environment. */
export function isMadeByEvent({ spec: { trigger } }: Pick<EphemeralEnvironment, "spec">): boolean {
  return trigger?.kind === "pull_request" || trigger?.kind === "pipeline";
}

/** True for the platform's own environment, see `settings.canary`. */
export function isCanary({
  spec: { trigger },
}: {
  readonly spec: Pick<EphemeralEnvironment["spec"], "trigger">;
}): boolean {
  return trigger?.kind === "canary";
}

/** Cause noted by the REST interface before it deleted the environment. */
export function notedCause({ metadata }: Marked): DeletionCause | undefined {
  const noted = metadata.annotations?.[DELETION_CAUSE_ANNOTATION];
  return DELETION_CAUSES.find((cause) => cause === noted);
}
