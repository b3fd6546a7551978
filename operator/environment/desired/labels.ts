import { ENVIRONMENT_NAME_LABEL, ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";

/** The labels of everything that belongs to an environment: the UID decides, the name is for people. */
export function ownerLabels(owner: { name: string; uid: string }): Record<string, string> {
  return {
    "app.kubernetes.io/managed-by": "ephemeral-environments",
    [ENVIRONMENT_NAME_LABEL]: owner.name,
    [ENVIRONMENT_UID_LABEL]: owner.uid,
  };
}
