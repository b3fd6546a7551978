import { ENVIRONMENT_UID_LABEL, GROUP } from "../../crds/group.ts";
import { isForbidden, KubeError } from "../kit/client/errors.ts";
import {
  configMapKind,
  eventKind,
  namespaceKind,
  networkPolicyKind,
  roleBindingKind,
  type WireObject,
  wireKind,
} from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Draft, ResourceType } from "../kit/client/objects.ts";
import type { Check, Installation } from "./check.ts";

const NAME = "installation-check";
const ENVIRONMENT = `env-${NAME}`;

/** What a policy must refuse to the platform, although its rights allow it. */
interface Refusal {
  /** Without our group. */
  readonly policy: string;
  readonly type: ResourceType<WireObject>;
  readonly draft: Draft<WireObject>;
}

/**
 * The policies that bind the platform itself refuse what they are there for. Nothing is written: each request is a dry run.
 * Those that bind others can't be tried under this identity; they come with the same release, and hold the same way.
 */
export const policiesCheck: Check = {
  name: "the policies are in force",

  async problems({ client, settings }) {
    const found = await Promise.all(refusals(settings).map((refusal) => problem(client, refusal)));
    return found.flat();
  },
};

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
      policy: "platform-applications",
      type: argoKind("Application", "applications"),
      draft: { metadata: ofEnvironment, spec: { project: "default", destination: { namespace: "kube-system" } } },
    },
  ];
}

const argoKind = (kind: string, plural: string) =>
  wireKind({ group: "argoproj.io", version: "v1alpha1", kind, plural, namespaced: true });

/** What `platform-applications` has nothing against, so that the name alone is judged. */
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

/** A refusal by another reason than the policy's says nothing of the policy. */
async function problem(client: KubeClient, { policy, type, draft }: Refusal): Promise<string[]> {
  const full = `${policy}.${GROUP}`;
  try {
    await client.create(type, draft, { dryRun: true });
  } catch (error) {
    if (isForbidden(error) && (error as KubeError).detail().includes(`'${full}'`)) return [];
    const words = error instanceof KubeError ? error.detail() || error.message : (error as Error).message;
    return [`the policy ${full} can't be tried: ${words}`];
  }
  return [
    `the policy ${full} does not refuse what it is there for: look at kubectl describe validatingadmissionpolicy,validatingadmissionpolicybinding ${full}`,
  ];
}
