import { GROUP } from "../../crds/group.ts";
import type { Right } from "./role.ts";

/** Rights of the ClusterRoles for people; granted only when bound or aggregated. */
export const PEOPLE_ROLES: readonly { readonly name: string; readonly rights: readonly Right[] }[] = [
  {
    name: "ephemeral-environments-view",
    rights: [
      {
        group: GROUP,
        resources: ["ephemeralenvironments", "environmentrecords", "webhookdeliveries", "repositories", "configsets"],
        verbs: ["get", "list", "watch"],
        why: "Everything but messages, which hold e-mail addresses, and API tokens.",
      },
    ],
  },
  {
    name: "ephemeral-environments-maintain",
    rights: [
      {
        group: GROUP,
        resources: ["ephemeralenvironments"],
        verbs: ["get", "list", "watch", "create", "update", "patch", "delete", "assign"],
        why: "Maintainers create, change and end environments, also those of others; `assign` lets them say whose they are.",
      },
      {
        group: GROUP,
        resources: ["environmentrecords", "notifications"],
        verbs: ["get", "list", "watch", "delete"],
        why: "What is over, and messages that should not be sent, can be removed.",
      },
      {
        group: GROUP,
        resources: ["repositories", "configsets"],
        verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
        why: "Maintainers say what environments are made of.",
      },
    ],
  },
];
