import { describe, expect, test } from "@jest/globals";
import { GATE_ROLE, PLATFORM_ROLES, type PlatformRole, type Right } from "../../../operator/installation/rights.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths, roleBindingObject } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { unique } from "../../support/plane/people.ts";

const plane = await controlPlane();
const platform = callsAs(plane, { token: plane.platform.token });
const groups = ["system:serviceaccounts", "system:serviceaccounts:ephemeral-system", "system:authenticated"];
const anybody = callsAs(plane, { user: "system:serviceaccount:ephemeral-system:anybody", groups });
const gate = callsAs(plane, { user: "system:serviceaccount:ephemeral-system:gate", groups });

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Each resource and verb of an account in the namespace, as in `kubectl auth can-i --list`. */
async function rules(calls: ApiCalls, namespace: string): Promise<string[]> {
  const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
  const { object } = await calls.create(path, { spec: { namespace } });
  const { incomplete, resourceRules } = object.status as { incomplete: boolean; resourceRules: readonly Rule[] };
  expect(incomplete).toBe(false);
  return [...new Set(resourceRules.flatMap(single))].sort();
}

function single({ apiGroups = [], resources = [], resourceNames = [""], verbs }: Rule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => [verb, `${resource}.${group}`, name].join(" "))),
    ),
  );
}

function table(...places: PlatformRole["where"][]): string[] {
  return PLATFORM_ROLES.filter(({ where }) => places.includes(where)).flatMap(({ rights }) => singles(rights));
}

function singles(rights: readonly Right[]): string[] {
  return rights.flatMap(({ rule: { group, ...rest } }) => single({ apiGroups: [group], ...rest }));
}

async function expectExactly(namespace: string, ...places: PlatformRole["where"][]): Promise<void> {
  const expected = new Set([...table("cluster", ...places), ...(await rules(anybody, namespace))]);
  expect(await rules(platform, namespace)).toEqual([...expected].sort());
}

describe("the platform's account may do exactly what docs/rights.md says, beside what every account may", () => {
  test.each([
    ["ephemeral-system", "release"],
    ["default", "default"],
    ["ephemeral-secrets", "secrets"],
    ["argocd", "deployer"],
  ] as const)("in the namespace %s", async (namespace, place) => {
    await expectExactly(namespace, place);
  });

  test.each(["kube-system", "of-others"])("in the namespace %s", async (namespace) => {
    await expectExactly(namespace);
  });

  test("in an environment's namespace, once it has bound its role there", async () => {
    const namespace = `env-${unique("rules-")}`;
    await given(platform, paths.namespaces, namespaceObject(namespace));
    await expectExactly(namespace);
    await given(platform, paths.roleBindings(namespace), roleBindingObject());
    const isKnown = async () => (await rules(platform, namespace)).includes("list pods. ");
    await until(isKnown, { what: "the binding to be known" });
    await expectExactly(namespace, "environments");
  });
});

test.each(["ephemeral-system", "default", "kube-system"])(
  "the gate's account may do exactly what docs/rights.md says, in the namespace %s, too",
  async (namespace) => {
    const expected = new Set([...singles(GATE_ROLE.rights), ...(await rules(anybody, namespace))]);
    expect(await rules(gate, namespace)).toEqual([...expected].sort());
  },
);
