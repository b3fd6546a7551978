import { DELETION_CAUSE_ANNOTATION, type ManagedFields } from "../group.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";
import { DELETION_CAUSES, type DeletionCause } from "./manifest.schema.ts";

/** Tools that keep environments as Git has them. */
export const GIT_OPS_TOOLS = ["argocd", "flux"] as const;
export type GitOpsTool = (typeof GIT_OPS_TOOLS)[number];

/** Argo CD marks its objects with one of these, by its setting `application.resourceTrackingMethod`. */
export const ARGOCD_TRACKING_ANNOTATION = "argocd.argoproj.io/tracking-id";
const ARGOCD_LABEL = "app.kubernetes.io/instance";
/** Marks of Flux's kustomize-controller and helm-controller. */
const FLUX_LABELS = ["kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"];

/** Field managers of the tools. */
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

/** Fields that the GitOps tool of a freshly read environment wrote; empty when it wrote nothing that counts now. */
export function writtenFromGit(environment: Marked): readonly ManagedFields[] {
  const tool = managedBy(environment);
  if (tool === undefined) return [];
  const { managedFields = [] } = environment.metadata;
  const isTools = ({ manager = "", subresource }: ManagedFields) =>
    subresource === undefined && FIELD_MANAGERS[tool].includes(manager);
  return managedFields.filter(isTools);
}

/** True when Git or a webhook may bring the environment back, so that the cause of its deletion matters. */
export function mayReturn(environment: Pick<EphemeralEnvironment, "metadata" | "spec">): boolean {
  return managedBy(environment) !== undefined || isMadeByEvent(environment);
}

/** True when an event of a host made the environment: a pull request or a pipeline. */
export function isMadeByEvent({ spec: { trigger } }: Pick<EphemeralEnvironment, "spec">): boolean {
  return trigger?.kind === "pull_request" || trigger?.kind === "pipeline";
}

/** True when the platform made the environment for itself, see `settings.canary`. */
export function isCanary({
  spec: { trigger },
}: {
  readonly spec: Pick<EphemeralEnvironment["spec"], "trigger">;
}): boolean {
  return trigger?.kind === "canary";
}

/** Cause that the REST interface noted before it deleted the environment. */
export function notedCause({ metadata }: Marked): DeletionCause | undefined {
  const noted = metadata.annotations?.[DELETION_CAUSE_ANNOTATION];
  return DELETION_CAUSES.find((cause) => cause === noted);
}
