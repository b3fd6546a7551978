import { type KubeObject, resourceType } from "../kit/client/objects.ts";
import { eachOf } from "../kit/time/each-of.ts";
import type { Check, Installation } from "./check.ts";
import { PLATFORM_ROLES, type PlatformRole, type Right } from "./rights.ts";

const AT_ONCE = 10;

/** A review that the API server answers at once and does not store. */
interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Asked };
  readonly status?: { readonly allowed?: boolean };
}

const accessReviews = resourceType<AccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
});

interface Asked {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly verb: string;
  readonly namespace?: string;
}

/** Checks that the current ServiceAccount has every right of the table. */
export const rightsCheck: Check = {
  name: "the rights are sufficient",

  async problems({ client, settings }) {
    const asked = PLATFORM_ROLES.flatMap((role) => questions(role, settings));
    const answers = await eachOf(AT_ONCE, asked, async (resourceAttributes) => {
      // A review has no name: the API server refuses one.
      const review = await client.create(accessReviews, { metadata: { name: "" }, spec: { resourceAttributes } });
      return review.status?.allowed === true ? [] : [missing(resourceAttributes)];
    });
    return answers.flat();
  },
};

/** Single rights of a role: one verb on one resource each. */
function questions({ where, rights }: PlatformRole, settings: Installation["settings"]): Asked[] {
  const namespace = namespaceOf(where, settings);
  if (namespace === undefined) return [];
  const place = namespace === "" ? {} : { namespace };
  return rights.flatMap((right) => each(right).map((asked) => ({ ...asked, ...place })));
}

function each({ group, resources, resourceNames = [], verbs }: Right): Asked[] {
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ name }));
  return resources.flatMap((path) => {
    const [resource = "", subresource] = path.split("/");
    const part = subresource === undefined ? {} : { subresource };
    return verbs.flatMap((verb) => names.map((name) => ({ group, resource, ...part, ...name, verb })));
  });
}

/** Namespace of a role: "" is everywhere; undefined when it can't be checked yet, or there is no such role. */
function namespaceOf(where: PlatformRole["where"], settings: Installation["settings"]): string | undefined {
  switch (where) {
    case "cluster":
      return "";
    case "release":
      return settings.namespace;
    case "default":
      return "default";
    case "secrets":
      return settings.secretManager.kind === "embedded" ? settings.secretsNamespace : undefined;
    case "deployer":
      return settings.deployer.namespace;
    // The role's rights need a binding created with each environment.
    case "environments":
      return undefined;
  }
}

function missing({ verb, resource, subresource, group, name, namespace }: Asked): string {
  const what = [resource, subresource].filter((part) => part !== undefined).join("/");
  const full = `${what}${group === "" ? "" : `.${group}`}${name === undefined ? "" : ` '${name}'`}`;
  const where = namespace === undefined ? "" : ` in the namespace ${namespace}`;
  return `the platform may not ${verb} ${full}${where}: install the chart's roles and bindings again`;
}
