import { beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { GROUP } from "../../../../crds/group.ts";
import { CHART_URL_PATTERN } from "../../../../crds/repository/repository.schema.ts";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { PULL_SECRET } from "../../../../operator/controllers/environment/desired/pull-secret.ts";
import { POLICIES_READ, policiesTried } from "../../../../operator/installation/policies-check.ts";
import { GATE_ROLE, PEOPLE_ROLES, PLATFORM_ROLES, type Right } from "../../../../operator/installation/rights.ts";
import { rendered, settings } from "./rendered-platform.ts";

describe("the platform chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test("gives the rights of docs/rights.md, each with its reason, and no others", async () => {
    const namespaces = {
      release: "ephemeral-system",
      default: "default",
      secrets: "ephemeral-secrets",
      deployer: "argocd",
    };
    const ofPlatform = PLATFORM_ROLES.map(({ kind, name, where, rights }) => ({
      kind,
      name,
      namespace: kind === "Role" ? namespaces[where as keyof typeof namespaces] : undefined,
      rules: rights.map(ruleOf),
    }));
    const ofOthers = [GATE_ROLE, ...PEOPLE_ROLES].map(({ name, rights }) => ({
      kind: "ClusterRole",
      name,
      rules: rights.map(ruleOf),
    }));
    const roles = (await rendered({ gate: { enabled: true } })).filter(({ kind }) => kind.endsWith("Role"));
    const found = roles.map(({ kind, metadata: { name, namespace }, rules }) => ({ kind, name, namespace, rules }));
    expect(found).toHaveLength(ofPlatform.length + ofOthers.length);
    expect(found).toEqual(expect.arrayContaining([...ofPlatform, ...ofOthers]));
    for (const { why } of [...PLATFORM_ROLES, GATE_ROLE, ...PEOPLE_ROLES].flatMap(({ rights }) => rights)) {
      expect(why).toMatch(/^[A-Z`].*[.]$/);
    }
  });

  test("binds the gate's rights to an account of its own, and none of them where there is no gate", async () => {
    const ofGate = (objects: readonly Manifest[]) =>
      objects.filter(({ metadata, subjects }) => metadata.name === GATE_ROLE.name || named(subjects, "gate"));
    expect(ofGate(await rendered())).toEqual([]);
    const found = ofGate(await rendered({ gate: { enabled: true } }));
    expect(found.map(({ kind }) => kind)).toEqual(["ClusterRole", "ClusterRoleBinding"]);
    expect(found[1]?.subjects).toEqual([{ kind: "ServiceAccount", name: "gate", namespace: "ephemeral-system" }]);
  });

  test("gives people nothing by Kubernetes' own roles, unless that is asked for", async () => {
    const aggregated = async (roles: object) => JSON.stringify(await rendered({ roles })).match(/aggregate-to-\w+/g);
    expect(await aggregated({})).toBeNull();
    expect(await aggregated({ aggregateToView: true })).toEqual(["aggregate-to-view"]);
    expect(await aggregated({ aggregateToAdmin: true })).toEqual(["aggregate-to-admin"]);
  });

  test("gives no right on the embedded secret manager's entries where there is another one", async () => {
    const bound = (objects: readonly Manifest[]) =>
      objects.filter(({ kind, metadata }) => kind.startsWith("Role") && metadata.namespace === "ephemeral-secrets");
    const secretManager = { kind: "google", project: "my-project-42" };
    expect(bound(await rendered())).toHaveLength(2);
    expect(bound(await rendered({ settings: { ...settings, secretManager } }))).toEqual([]);
  });

  test("follows the release's namespace and the settings in every right and policy", async () => {
    const elsewhere = {
      ...settings,
      secretsNamespace: "vault",
      serviceAccount: "robot",
      deployer: { namespace: "cd" },
    };
    const objects = await rendered({ settings: elsewhere }, "elsewhere");
    const namespaced = objects.filter(({ metadata }) => metadata.namespace !== undefined);
    expect([...new Set(namespaced.map(({ metadata }) => metadata.namespace))].sort()).toEqual([
      "cd",
      // Events of cluster-scoped objects.
      "default",
      "elsewhere",
      "vault",
    ]);
    const bindings = objects.filter(({ kind }) => kind.endsWith("RoleBinding"));
    for (const { subjects } of bindings) {
      expect(subjects).toEqual([{ kind: "ServiceAccount", name: "robot", namespace: "elsewhere" }]);
    }
    const policies = JSON.stringify(objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicy"));
    expect(new Set(policies.match(/system:serviceaccount:[a-z:-]+/g))).toEqual(
      new Set([
        "system:serviceaccount:elsewhere:robot",
        "system:serviceaccount:elsewhere:gate",
        "system:serviceaccount:cd:argocd-application-controller",
        // Kubernetes' own controllers, which bind claims.
        "system:serviceaccount:kube-system:",
        "system:serviceaccount:kube-system:ttl-after-finished-controller",
      ]),
    );
  });

  test("knows Argo CD by the ServiceAccount, and its other namespaces by the names, that its values give", async () => {
    const deployer = { serviceAccount: { name: "controller", namespace: "gitops" }, otherNamespaces: ["env-prod"] };
    const objects = await rendered({ deployer });
    const policy = objects.find(({ metadata }) => metadata.name === "deployer-namespaces.ephemeral-environments.dev");
    expect(policy).toMatchObject({
      spec: {
        matchConditions: [{ expression: "request.userInfo.username == 'system:serviceaccount:gitops:controller'" }],
        variables: [{ name: "others", expression: "['env-prod']" }],
      },
    });
  });

  test("lets charts come from the repositories that its values name, and from every one where they name none", async () => {
    const allowed = async (values: object) =>
      JSON.stringify(await rendered(values)).match(/"name":"allowed","expression":"(\['http[^"]*)"/)?.[1];
    expect(await allowed({})).toBe("['https:/*', 'http:/*', 'oci:/*']");
    const chartRepositories = ["https://git.example.test/charts/*", "oci://registry.example.test/charts/shop"];
    expect(await allowed({ environments: { chartRepositories } })).toBe(
      "['https://git.example.test/charts/*', 'oci://registry.example.test/charts/shop']",
    );
  });

  test("takes the URLs of charts that a Repository may name, and no others", async () => {
    const policies = (await rendered()).filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
    expect(JSON.stringify(policies)).toContain(`one.matches('${CHART_URL_PATTERN}')`);
  });

  test("keeps the Secret that images are pulled with from containers, by its name", async () => {
    const policies = await rendered();
    const ofPods = policies.find(({ metadata }) => metadata.name === "environment-pods.ephemeral-environments.dev");
    expect(JSON.stringify(ofPods)).toContain(`secretKeyRef.?name != optional.of('${PULL_SECRET}')`);
  });

  test("lets an Ingress of an environment carry the annotations that its values name, and those of Argo CD", async () => {
    const ingressAnnotations = ["ingress.example.test/*", "cert-manager.io/cluster-issuer"];
    const policies = JSON.stringify(await rendered({ environments: { ingressAnnotations } }));
    const always = ["argocd.argoproj.io/*", "kubectl.kubernetes.io/last-applied-configuration"];
    expect(policies).toContain(`[${[...always, ...ingressAnnotations].map((key) => `'${key}'`).join(", ")}]`);
  });

  test("grants no right with a wildcard but the one on what is left of an environment, and none on secrets, pods or events in the whole cluster", async () => {
    const roles = (await rendered()).filter(({ kind }) => kind.endsWith("Role"));
    const hasWildcard = (rule: object) => JSON.stringify(rule).includes('"*"');
    const wide = roles.flatMap(({ metadata, rules = [] }) =>
      (rules as object[]).filter(hasWildcard).map((rule) => [metadata.name, rule]),
    );
    // The policy platform-teardown limits it to finalizers, in a namespace in deletion.
    const ofTeardown = { apiGroups: ["*"], resources: ["*"], verbs: ["list", "patch"] };
    expect(wide).toEqual([["ephemeral-environment", ofTeardown]]);
    const clusterWide = roles.find(
      ({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "ephemeral-platform",
    );
    expect(JSON.stringify(clusterWide?.rules)).not.toMatch(/"(secrets|pods|pods\/log|events)"/);
  });

  test("brings the policies that check-installation tries or reads, and no others", async () => {
    const policies = (await rendered()).filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
    const known = [...policiesTried(settingsFrom({ ...settings })), ...POLICIES_READ];
    expect(policies.map(({ metadata }) => metadata.name).sort()).toEqual(
      known.map((name) => `${name}.${GROUP}`).sort(),
    );
  });

  test("puts every policy into force, failing closed, with a sentence for every refusal", async () => {
    const objects = await rendered();
    const policies = objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
    const bound = objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicyBinding");
    // A policy for classes is evaluated for each class; any other for all requests.
    const forClasses = { paramRef: { selector: {}, parameterNotFoundAction: "Allow" } };
    expect(bound.map(({ spec }) => spec)).toEqual(
      policies.map(({ metadata, spec }) => ({
        policyName: metadata.name,
        validationActions: ["Deny"],
        ...(Object.hasOwn(spec as object, "paramKind") && forClasses),
      })),
    );
    const ofClasses = policies.filter(({ spec }) => Object.hasOwn(spec as object, "paramKind"));
    expect(ofClasses.map(({ metadata }) => metadata.name.split(".")[0])).toEqual([
      "environment-ingress-classes",
      "environment-storage-classes",
    ]);
    for (const { spec } of policies) {
      expect(spec).toMatchObject({ failurePolicy: "Fail" });
      for (const validation of (spec as { validations: object[] }).validations) {
        expect(Object.keys(validation).some((key) => key.startsWith("message"))).toBe(true);
        expect(validation).toMatchObject({ reason: "Forbidden" });
      }
    }
  });
});

function ruleOf({ rule: { group, resources, resourceNames, verbs } }: Right): object {
  return { apiGroups: [group], resources, ...(resourceNames && { resourceNames }), verbs };
}

function named(subjects: unknown, name: string): boolean {
  return ((subjects ?? []) as readonly { readonly name: string }[]).some((subject) => subject.name === name);
}
