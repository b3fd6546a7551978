/**
 * All rights that the chart gives the platform, the gate and people, with reasons: compared with the chart's roles by a
 * test, and the source of `docs/rights.md`. `check-installation` checks the platform's.
 */
import { GROUP } from "../../crds/group.ts";

/** One rule of a role, with its purpose. */
export interface Right {
  readonly rule: {
    /** API group; the empty string is the core group. */
    readonly group: string;
    readonly resources: readonly string[];
    /** Absent: objects of any name. */
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  };
  readonly why: string;
}

/** A role of the platform's ServiceAccount. */
export interface PlatformRole {
  readonly kind: "ClusterRole" | "Role";
  readonly name: string;
  /** Scope of its rights. */
  readonly where: "cluster" | "environments" | "release" | "default" | "secrets" | "deployer";
  readonly rights: readonly Right[];
}

const READ = ["get", "list", "watch"] as const;
const OWNED = [...READ, "create", "patch", "delete"] as const;

/** Roles, widest first. */
export const PLATFORM_ROLES: readonly PlatformRole[] = [
  {
    kind: "ClusterRole",
    name: "ephemeral-platform",
    where: "cluster",
    rights: [
      {
        rule: { group: GROUP, resources: ["ephemeralenvironments"], verbs: [...OWNED, "assign"] },
        why: "The REST interface creates, changes and deletes environments; the operator watches them, holds its finalizer and deletes expired ones. `assign`: their owner, trigger and groups are what the REST interface and webhooks found out.",
      },
      {
        rule: { group: GROUP, resources: ["ephemeralenvironments/status"], verbs: ["patch"] },
        why: "Phase, conditions and everything else that the operator observed.",
      },
      {
        rule: { group: "", resources: ["namespaces", "resourcequotas", "limitranges"], verbs: OWNED },
        why: "Each environment gets a namespace with a quota and limits, which are repaired, and are verified gone in the end. The policies `platform-namespaces` and `platform-isolation` hold this to environments.",
      },
      {
        rule: { group: "", resources: ["serviceaccounts"], verbs: ["list", "watch", "create"] },
        why: "The ServiceAccount `default` of an environment's namespace gives pods no token of the API server, from the beginning. The policy `platform-isolation` allows no other, and nowhere else.",
      },
      {
        rule: { group: "", resources: ["serviceaccounts"], resourceNames: ["default"], verbs: ["get", "patch"] },
        why: "Kubernetes makes it, too, and charts may name it: it is repaired. The policy `platform-isolation` holds this to environments, and to the token.",
      },
      {
        rule: { group: "", resources: ["persistentvolumes"], verbs: ["get", "patch"] },
        why: "A volume whose class says `Retain` would outlive its environment with its data: its reclaim policy is set to `Delete` before the claim goes. The policy `platform-volumes` allows nothing else, and that of environments' volumes alone.",
      },
      {
        rule: { group: "networking.k8s.io", resources: ["networkpolicies"], verbs: OWNED },
        why: "Environments are isolated from each other and from the platform. The policy `platform-isolation` holds this to environments.",
      },
      {
        rule: { group: "rbac.authorization.k8s.io", resources: ["rolebindings"], verbs: OWNED },
        why: "Inside an environment's namespace the platform binds `ephemeral-environment` to itself, so that it needs no right on secrets and pods of the whole cluster. The policy `platform-role-bindings` allows no other binding.",
      },
      {
        rule: {
          group: "rbac.authorization.k8s.io",
          resources: ["clusterroles"],
          resourceNames: ["ephemeral-environment"],
          verbs: ["bind"],
        },
        why: "Without it the API server refuses a binding to rights that the platform does not have itself.",
      },
      {
        rule: {
          group: "admissionregistration.k8s.io",
          resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
          verbs: ["get"],
        },
        why: "`check-installation` looks whether the policies that it can't try are there and bound to deny.",
      },
    ],
  },
  {
    kind: "ClusterRole",
    name: "ephemeral-environment",
    where: "environments",
    rights: [
      {
        rule: { group: "", resources: ["secrets"], verbs: ["get", "list", "create", "delete"] },
        why: "The environment's Secret is made, replaced and removed. Secrets are listed to mask their values in logs.",
      },
      {
        rule: { group: "", resources: ["pods"], verbs: ["list", "delete"] },
        why: "Says why an environment does not come up, and whose logs are shown. Deleted are those that take too long to stop when their namespace goes, which the policy `platform-teardown` holds this to.",
      },
      {
        rule: { group: "", resources: ["pods/log"], verbs: ["get"] },
        why: "The logs of an environment, and the last lines of a container that fails.",
      },
      {
        rule: { group: "apps", resources: ["deployments"], verbs: ["list"] },
        why: "Says what refuses to make pods, such as a quota.",
      },
      {
        rule: { group: "apps", resources: ["deployments/scale", "statefulsets/scale"], verbs: ["patch"] },
        why: "An environment that wakes has its pods at once, and not only when Argo CD has rendered its chart. The policy `platform-scale` lets the platform raise them from zero, and nothing else.",
      },
      {
        rule: { group: "batch", resources: ["jobs"], verbs: ["delete"] },
        why: "A Job's pods can't be changed: one that an update wants otherwise is deleted, so that Argo CD makes it anew. The policy `platform-jobs` holds this to Jobs of the environment's chart that have ended and have a `ttlSecondsAfterFinished`.",
      },
      {
        rule: { group: "*", resources: ["*"], verbs: ["list", "patch"] },
        why: "Whatever holds the namespace of an environment that is being deleted is found, named and released; before, its claims say which volumes would outlive it. While an environment is not healthy, the objects of its chart and the warnings about them say why. The policy `platform-teardown` lets the platform take finalizers off, of what is in a namespace that is being deleted, and change nothing else.",
      },
    ],
  },
  {
    kind: "Role",
    name: "ephemeral-platform",
    where: "release",
    rights: [
      {
        rule: { group: GROUP, resources: ["repositories"], verbs: [...READ, "patch"] },
        why: "Repositories are read; patched are only the finalizer and the request of a reload, which the policy `platform-repositories` guards.",
      },
      {
        rule: { group: GROUP, resources: ["repositories/status"], verbs: ["patch"] },
        why: "Whether a Repository can be used, its pull requests and its webhook.",
      },
      {
        rule: { group: "", resources: ["configmaps"], verbs: [...READ, "create", "update", "patch", "delete"] },
        why: "The result of the last reload, and the rollups of what was counted. The policy `platform-config-maps` keeps others, such as the settings, from it.",
      },
      {
        rule: { group: GROUP, resources: ["configsets"], verbs: OWNED },
        why: "The REST interface makes, replaces and deletes config sets for maintainers.",
      },
      {
        rule: { group: GROUP, resources: ["apitokens"], verbs: OWNED },
        why: "The REST interface issues and revokes API tokens; expired ones are removed. No other account may write them.",
      },
      {
        rule: { group: GROUP, resources: ["apitokens/status"], verbs: ["patch"] },
        why: "When a token was last used, and what its owner's last ID token said.",
      },
      {
        rule: { group: GROUP, resources: ["notifications"], verbs: [...READ, "create", "delete"] },
        why: "Messages that are to be sent outlive a restart.",
      },
      {
        rule: { group: GROUP, resources: ["notifications/status"], verbs: ["patch"] },
        why: "Whether a message was sent, and its failures.",
      },
      {
        rule: { group: "apps", resources: ["controllerrevisions"], verbs: OWNED },
        why: "The versions of config sets that environments use; unused ones are removed.",
      },
      {
        rule: { group: GROUP, resources: ["environmentrecords"], verbs: ["list", "watch", "create", "delete"] },
        why: "A record of each deleted environment; old ones are removed.",
      },
      {
        rule: { group: GROUP, resources: ["environmentrecords/status"], verbs: ["patch"] },
        why: "What becomes known of an environment after its end, like its allocated cost.",
      },
      {
        rule: { group: GROUP, resources: ["webhookdeliveries"], verbs: [...READ, "create", "delete"] },
        why: "What hosts delivered is stored before it is answered, decided later and removed in the end.",
      },
      {
        rule: { group: GROUP, resources: ["webhookdeliveries/status"], verbs: ["patch"] },
        why: "What was decided on a delivery, and by which rules.",
      },
      {
        rule: { group: "events.k8s.io", resources: ["events"], verbs: ["create", "patch"] },
        why: "Events about the platform itself, such as orphans; patched to count repetitions. The policy `platform-events` keeps those of others from it.",
      },
      {
        rule: { group: "coordination.k8s.io", resources: ["leases"], verbs: ["get", "create", "update"] },
        why: "Leader election: one replica reconciles.",
      },
    ],
  },
  {
    kind: "Role",
    name: "ephemeral-platform-events",
    where: "default",
    rights: [
      {
        rule: { group: "events.k8s.io", resources: ["events"], verbs: ["create", "patch"] },
        why: "Events about environments: the API server takes those of what has no namespace in `default` alone.",
      },
    ],
  },
  {
    kind: "Role",
    name: "ephemeral-platform",
    where: "secrets",
    rights: [
      {
        rule: { group: "", resources: ["secrets"], verbs: ["get", "list", "create", "patch", "delete"] },
        why: "The embedded secret manager keeps its values here; the list, of metadata alone, finds what no environment owns any more. Not rendered where `settings.secretManager` is another.",
      },
    ],
  },
  {
    kind: "Role",
    name: "ephemeral-platform",
    where: "deployer",
    rights: [
      {
        rule: { group: "argoproj.io", resources: ["applications", "appprojects"], verbs: OWNED },
        why: "One application and one project for each environment. The policies `platform-deployer`, `platform-applications` and `platform-projects` allow no others, and nothing else in them.",
      },
      {
        rule: { group: "", resources: ["secrets"], verbs: ["create", "patch", "delete"] },
        why: "The login at a chart's private place, a Secret for the project of one environment. It is never read; the policy `platform-chart-logins` allows no other Secret of the deployer's namespace, nor a patch that would show one.",
      },
    ],
  },
];

/** A ClusterRole of others than the platform. */
interface OtherRole {
  readonly name: string;
  readonly rights: readonly Right[];
}

/** Rights of the gate's own ServiceAccount; the platform's does not have them from here. */
export const GATE_ROLE: OtherRole = {
  name: "ephemeral-gate",
  rights: [
    {
      rule: { group: GROUP, resources: ["ephemeralenvironments"], verbs: [...READ, "patch"] },
      why: "The gate finds the environment of a host and how far it is, and wakes it by the annotation `requested-at`. The policy `gate` allows no other change, and nothing else of the platform's kinds.",
    },
  ],
};

/** Rights of the ClusterRoles for people; granted only when bound or aggregated. */
export const PEOPLE_ROLES: readonly OtherRole[] = [
  {
    name: "ephemeral-environments-view",
    rights: [
      {
        rule: {
          group: GROUP,
          resources: ["ephemeralenvironments", "environmentrecords", "webhookdeliveries", "repositories", "configsets"],
          verbs: READ,
        },
        why: "Everything but messages, which hold e-mail addresses, and API tokens.",
      },
    ],
  },
  {
    name: "ephemeral-environments-maintain",
    rights: [
      {
        rule: {
          group: GROUP,
          resources: ["ephemeralenvironments"],
          verbs: [...READ, "create", "update", "patch", "delete", "assign"],
        },
        why: "Maintainers create, change and end environments, also those of others; `assign` lets them say whose they are.",
      },
      {
        rule: { group: GROUP, resources: ["environmentrecords", "notifications"], verbs: [...READ, "delete"] },
        why: "What is over, and messages that should not be sent, can be removed.",
      },
      {
        rule: {
          group: GROUP,
          resources: ["repositories", "configsets"],
          verbs: [...READ, "create", "update", "patch", "delete"],
        },
        why: "Maintainers say what environments are made of.",
      },
    ],
  },
];
