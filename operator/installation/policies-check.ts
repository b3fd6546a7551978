import { ENVIRONMENT_UID_LABEL, GROUP } from "../../crds/group.ts";
import { isForbidden, KubeError } from "../kit/client/errors.ts";
import {
  configMapKind,
  eventKind,
  namespaceKind,
  networkPolicyKind,
  roleBindingKind,
  secretKind,
  type WireObject,
  wireKind,
} from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Draft, ResourceType } from "../kit/client/objects.ts";
import type { Check, Installation } from "./check.ts";

const NAME = "installation-check";
const ENVIRONMENT = `env-${NAME}`;
const REMEDY = "look at kubectl describe validatingadmissionpolicy,validatingadmissionpolicybinding";

/**
 * Checks that the policies on the platform refuse as intended, and that the others exist and deny. Writes nothing: each
 * request is a dry run.
 */
export const policiesCheck: Check = {
  name: "the policies are in force",

  problems({ client, settings }) {
    const tried = Object.entries(forbidden(settings)).map((one) => problemOfTried(client, one));
    return Promise.all([...tried, ...POLICIES_READ.map((name) => problemOfRead(client, name))]);
  },
};

/**
 * Policies of the chart, without our group, that can't be tried: they bind others, or protect objects that the platform
 * may not write. A right to create pods, only to see them refused, would help an attacker more than this check.
 */
export const POLICIES_READ = [
  "api-tokens",
  "audit-ids",
  "deployer-namespaces",
  "environment-assign",
  "environment-budgets",
  "environment-claims",
  "environment-finalizers",
  "environment-http-route",
  "environment-ingress",
  "environment-ingress-classes",
  "environment-jobs",
  "environment-namespace",
  "environment-pods",
  "environment-protected",
  "environment-service",
  "environment-service-accounts",
  "environment-status",
  "environment-storage-classes",
  "gate",
  "notifications",
  "platform-jobs",
  "platform-repositories",
  "platform-scale",
  "platform-teardown",
  "platform-volumes",
  "webhook-deliveries",
] as const;

/** Policies that are tried, without our group. */
export function policiesTried(settings: Installation["settings"]): string[] {
  return Object.keys(forbidden(settings));
}

type Writes = Readonly<Record<string, readonly [type: ResourceType<WireObject>, draft: Draft<WireObject>]>>;

/** An object per policy, without our group, that it must refuse, although the platform's rights allow it. */
function forbidden({ namespace, deployer }: Installation["settings"]): Writes {
  const inDefault = { name: NAME, namespace: "default" };
  const inDeployer = { name: NAME, namespace: deployer.namespace };
  const ofEnvironment = { ...inDeployer, name: ENVIRONMENT, labels: { [ENVIRONMENT_UID_LABEL]: NAME } };
  const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ephemeral-environment" };
  const elsewhere = { project: "default", destination: { namespace: "kube-system" } };
  return {
    "platform-namespaces": [namespaceKind, { metadata: { name: NAME } }],
    "platform-isolation": [networkPolicyKind, { metadata: inDefault, spec: { podSelector: {} } }],
    "platform-role-bindings": [roleBindingKind, { metadata: inDefault, roleRef: role }],
    "platform-config-maps": [configMapKind, { metadata: { name: NAME, namespace } }],
    "platform-events": [eventKind, { metadata: inDefault, ...FOREIGN_EVENT }],
    "platform-deployer": [applicationKind, { metadata: inDeployer, spec: harmless(deployer.clusterServer) }],
    "platform-projects": [projectKind, { metadata: ofEnvironment, spec: { sourceRepos: ["*"] } }],
    "platform-chart-logins": [secretKind, { metadata: inDeployer }],
    "platform-applications": [applicationKind, { metadata: ofEnvironment, spec: elsewhere }],
  };
}

const argoKind = (kind: string, plural: string) =>
  wireKind({ group: "argoproj.io", version: "v1alpha1", kind, plural, namespaced: true });
const applicationKind = argoKind("Application", "applications");
const projectKind = argoKind("AppProject", "appprojects");

/** Acceptable to `platform-applications`, so that only the name is judged. */
const harmless = (server: string) => ({
  project: NAME,
  destination: { server, namespace: NAME },
  source: { repoURL: "https://example.com/chart.git" },
  syncPolicy: { syncOptions: ["CreateNamespace=false"] },
});

const FOREIGN_EVENT = {
  eventTime: "2026-01-01T00:00:00.000000Z",
  action: "Check",
  reason: "Check",
  type: "Normal",
  reportingController: NAME,
  reportingInstance: NAME,
  regarding: { kind: "Namespace", name: "default" },
};

/** A refusal for another reason says nothing about the policy. */
async function problemOfTried(client: KubeClient, [policy, [type, draft]]: [string, Writes[string]]) {
  const full = `${policy}.${GROUP}`;
  try {
    await client.create(type, draft, { dryRun: true });
  } catch (error) {
    if (isForbidden(error) && (error as KubeError).detail().includes(`'${full}'`)) return undefined;
    return `the policy ${full} can't be tried: ${wordsOf(error)}`;
  }
  return `the policy ${full} does not refuse what it is there for: ${REMEDY} ${full}`;
}

const ofAdmission = (kind: string, plural: string) =>
  wireKind({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, namespaced: false });
const policyKind = ofAdmission("ValidatingAdmissionPolicy", "validatingadmissionpolicies");
const bindingKind = ofAdmission("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");

/** The part of a policy and its binding that puts it into force. */
interface Force {
  readonly failurePolicy?: string;
  readonly policyName?: string;
  readonly validationActions?: readonly string[];
  /** Narrows a binding; ours have none. */
  readonly matchResources?: object;
}

async function problemOfRead(client: KubeClient, name: string): Promise<string | undefined> {
  const full = `${name}.${GROUP}`;
  try {
    const found = await Promise.all([policyKind, bindingKind].map((kind) => client.find(kind, { name: full })));
    const [policy, binding] = found.map((one) => one?.spec as Force | undefined);
    const isBound = binding?.policyName === full && binding.matchResources === undefined;
    const denies = binding?.validationActions?.includes("Deny") === true && policy?.failurePolicy === "Fail";
    return isBound && denies ? undefined : `the policy ${full} is not in force: ${REMEDY} ${full}`;
  } catch (error) {
    return `the policy ${full} can't be read: ${wordsOf(error)}`;
  }
}

const wordsOf = (error: unknown) =>
  error instanceof KubeError ? error.detail() || error.message : (error as Error).message;
