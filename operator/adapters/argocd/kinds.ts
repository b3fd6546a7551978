import { type WatchedKind, withoutHistory } from "../../kit/cache/watched-kind.ts";
import { type WireObject, wireKind } from "../../kit/client/kinds.ts";
import { ownedKind } from "../kubernetes/kinds.ts";
import { type ApplicationStatus, keptStatus } from "./application-status.ts";

const argo = { group: "argoproj.io", version: "v1alpha1", namespaced: true };

/** Argo CD's kinds. https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/ */
export const applicationKind = wireKind({ ...argo, kind: "Application", plural: "applications" });
export const appProjectKind = wireKind({ ...argo, kind: "AppProject", plural: "appprojects" });

/** The Applications and AppProjects of environments, in the namespace of Argo CD. */
export const argocdKinds = (namespace: string): readonly WatchedKind<WireObject>[] => [
  ownedKind(applicationKind, trimmedApplication, { namespace }),
  ownedKind(appProjectKind, undefined, { namespace }),
];

/** Keeps of the status only what is read: the rest is most of an Application's bytes, and changes all the time. */
function trimmedApplication(object: WireObject): WireObject {
  const { status, operation, ...kept } = withoutHistory(object);
  return { ...kept, status: keptStatus((status ?? {}) as ApplicationStatus, operation) };
}
