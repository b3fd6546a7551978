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

/** A request that a policy must refuse, although the platform's rights allow it. */
interface Refusal {
  /** Without our group. */
  readonly policy: string;
  readonly type: ResourceType<WireObject>;
  readonly draft: Draft<WireObject>;
}

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
  "notifications",
  "platform-jobs",
  "platform-repositories",
  "platform-teardown",
  "platform-volumes",
  "webhook-deliveries",
] as const;

/**
 * Checks that the policies on the platform refuse as intended, and that the others exist and deny. Writes nothing: each
 * request is a dry run.
 */
export const policiesCheck: Check = {
  name: "the policies are in force",

  async problems({ client, settings }) {
    const tried = refusals(settings).map((refusal) => problem(client, refusal));
    const read = POLICIES_READ.map((name) => problemOfRead(client, name));
    return (await Promise.all([...tried, ...read])).flat();
  },
};

/** Policies that are tried, without our group. */
export function policiesTried(settings: Installation["settings"]): string[] {
  return refusals(settings).map(({ policy }) => policy);
}

function refusals({ namespace, deployer }: Installation["settings"]): Refusal[] {
  const metadata = { name: NAME };
  const ofEnvironment = {
    name: ENVIRONMENT,
    namespace: deployer.namespace,
    labels: { [ENVIRONMENT_UID_LABEL]: NAME },
  };
  return [
    { policy: "platform-namespaces", type: namespaceKind, draft: { metadata } },
    {
      policy: "platform-isolation",
      type: networkPolicyKind,
      draft: { metadata: { ...metadata, namespace: "default" }, spec: { podSelector: {} } },
    },
    {
      policy: "platform-role-bindings",
      type: roleBindingKind,
      draft: {
        metadata: { ...metadata, namespace: "default" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ephemeral-environment" },
      },
    },
    { policy: "platform-config-maps", type: configMapKind, draft: { metadata: { ...metadata, namespace } } },
    { policy: "platform-events", type: eventKind, draft: foreignEvent() },
    {
      policy: "platform-deployer",
      type: argoKind("Application", "applications"),
      draft: { metadata: { ...metadata, namespace: deployer.namespace }, spec: harmless(deployer.clusterServer) },
    },
    {
      policy: "platform-projects",
      type: argoKind("AppProject", "appprojects"),
      draft: { metadata: ofEnvironment, spec: { sourceRepos: ["*"] } },
    },
    {
      policy: "platform-chart-logins",
      type: secretKind,
      draft: { metadata: { ...metadata, namespace: deployer.namespace } },
    },
    {
      policy: "platform-applications",
      type: argoKind("Application", "applications"),
      draft: { metadata: ofEnvironment, spec: { project: "default", destination: { namespace: "kube-system" } } },
    },
  ];
}

const argoKind = (kind: string, plural: string) =>
  wireKind({ group: "argoproj.io", version: "v1alpha1", kind, plural, namespaced: true });

/** Acceptable to `platform-applications`, so that only the name is judged. */
function harmless(server: string): object {
  const destination = { server, namespace: NAME };
  return {
    project: NAME,
    destination,
    source: { repoURL: "https://example.com/chart.git" },
    syncPolicy: { syncOptions: ["CreateNamespace=false"] },
  };
}

function foreignEvent(): Draft<WireObject> {
  return {
    metadata: { name: NAME, namespace: "default" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    action: "Check",
    reason: "Check",
    type: "Normal",
    reportingController: NAME,
    reportingInstance: NAME,
    regarding: { kind: "Namespace", name: "default" },
  };
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

async function problemOfRead(client: KubeClient, name: string): Promise<string[]> {
  const full = `${name}.${GROUP}`;
  try {
    const found = await Promise.all([policyKind, bindingKind].map((kind) => client.find(kind, { name: full })));
    const [policy, binding] = found.map((one) => one?.spec as Force | undefined);
    const isBound = binding?.policyName === full && binding.matchResources === undefined;
    const denies = binding?.validationActions?.includes("Deny") === true && policy?.failurePolicy === "Fail";
    return isBound && denies ? [] : [`the policy ${full} is not in force: ${REMEDY} ${full}`];
  } catch (error) {
    return [`the policy ${full} can't be read: ${wordsOf(error)}`];
  }
}

/** A refusal for another reason says nothing about the policy. */
async function problem(client: KubeClient, { policy, type, draft }: Refusal): Promise<string[]> {
  const full = `${policy}.${GROUP}`;
  try {
    await client.create(type, draft, { dryRun: true });
  } catch (error) {
    if (isForbidden(error) && (error as KubeError).detail().includes(`'${full}'`)) return [];
    return [`the policy ${full} can't be tried: ${wordsOf(error)}`];
  }
  return [`the policy ${full} does not refuse what it is there for: ${REMEDY} ${full}`];
}

const wordsOf = (error: unknown) =>
  error instanceof KubeError ? error.detail() || error.message : (error as Error).message;
