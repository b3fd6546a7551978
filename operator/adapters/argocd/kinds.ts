import { type WatchedKind, withoutHistory } from "../../kit/cache/watched-kind.ts";
import { type WireObject, wireKind } from "../../kit/client/kinds.ts";
import { ownedKind } from "../kubernetes/kinds.ts";
import { type ApplicationStatus, keptStatus } from "./application-status.ts";

const argo = { group: "argoproj.io", version: "v1alpha1", namespaced: true };

/** Kinds of Argo CD. https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/ */
export const applicationKind = wireKind({ ...argo, kind: "Application", plural: "applications" });
export const appProjectKind = wireKind({ ...argo, kind: "AppProject", plural: "appprojects" });

/** Environments' Applications and AppProjects, in Argo CD's namespace. */
export const argocdKinds = (namespace: string): readonly WatchedKind<WireObject>[] => [
  ownedKind(applicationKind, trimmedApplication, { namespace }),
  ownedKind(appProjectKind, undefined, { namespace }),
];

function trimmedApplication(object: WireObject): WireObject {
  const { status, operation, ...kept } = withoutHistory(object);
  return { ...kept, status: keptStatus((status ?? {}) as ApplicationStatus, operation) };
}
