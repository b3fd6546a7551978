import { type KubeObject, resourceType } from "../kit/client/objects.ts";
import { eachOf } from "../kit/time/each-of.ts";
import type { Check, Installation } from "./check.ts";
import { PLATFORM_ROLES, type PlatformRole, type Right } from "./rights.ts";

const AT_ONCE = 10;

/** One verb on one resource. */
interface Access {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly name: string | undefined;
  readonly verb: string;
  readonly namespace?: string;
}

/** A review that the API server answers at once and does not store. */
interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Access };
  readonly status?: { readonly allowed?: boolean };
}

const accessReviews = resourceType<AccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
});

/** Checks that the current ServiceAccount has every right of the table. */
export const rightsCheck: Check = {
  name: "the rights are sufficient",

  problems({ client, settings }) {
    const accesses = PLATFORM_ROLES.flatMap((role) => accessesOf(role, settings));
    return eachOf(AT_ONCE, accesses, async (resourceAttributes) => {
      // A review has no name: the API server refuses one.
      const review = await client.create(accessReviews, { metadata: { name: "" }, spec: { resourceAttributes } });
      return review.status?.allowed === true ? undefined : missing(resourceAttributes);
    });
  },
};

function accessesOf({ where, rights }: PlatformRole, settings: Installation["settings"]): Access[] {
  const isEmbedded = settings.secretManager.kind === "embedded";
  /** Namespaces of the roles; those without one can't be checked yet, or there is no such role. */
  const places: Readonly<Record<PlatformRole["where"], { readonly namespace?: string } | undefined>> = {
    cluster: {},
    release: { namespace: settings.namespace },
    default: { namespace: "default" },
    secrets: isEmbedded ? { namespace: settings.secretsNamespace } : undefined,
    deployer: { namespace: settings.deployer.namespace },
    // The role's rights need a binding created with each environment.
    environments: undefined,
  };
  const place = places[where];
  return place === undefined ? [] : rights.flatMap((right) => each(right).map((access) => ({ ...access, ...place })));
}

function each({ rule: { group, resources, resourceNames, verbs } }: Right): Access[] {
  const names = resourceNames ?? [undefined];
  return resources.flatMap((path) => {
    const [resource = "", subresource] = path.split("/");
    return verbs.flatMap((verb) => names.map((name) => ({ group, resource, subresource, name, verb })));
  });
}

function missing({ verb, resource, subresource, group, name, namespace }: Access): string {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  const full = `${path}${group === "" ? "" : `.${group}`}${name === undefined ? "" : ` '${name}'`}`;
  const where = namespace === undefined ? "" : ` in the namespace ${namespace}`;
  return `the platform may not ${verb} ${full}${where}: install the chart's roles and bindings again`;
}
