import { customResourceDefinitions } from "../../crds/definitions.ts";
import { GROUP, VERSION } from "../../crds/group.ts";
import { insteadOf, isNotFound } from "../kit/client/errors.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Check } from "./check.ts";

/** Discovery and description of our group, readable by every authenticated user. */
const PATH = `/apis/${GROUP}/${VERSION}`;
const LIMIT_BYTES = 16 * 1024 ** 2;

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: FieldSchema } }[];
  };
}

/** Field-declaring part of a Kubernetes schema. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly items?: FieldSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

interface Described extends FieldSchema {
  readonly "x-kubernetes-group-version-kind"?: readonly { readonly group: string; readonly kind: string }[];
}

/** Checks that the API server serves every kind of the platform, with all fields of this version. */
export const kindsCheck: Check = {
  name: "the kinds are served",

  async problems({ client }) {
    const [served, described] = await Promise.all([servedResources(client), describedSchemas(client)]);
    const required = [...customResourceDefinitions().values()] as Definition[];
    return required.map(({ spec }) => {
      const name = `${spec.names.plural}.${GROUP}`;
      // Descriptions may outlive their kinds.
      if (!served.has(spec.names.plural)) {
        return `the API server does not serve ${name}: look at kubectl describe crd ${name}`;
      }
      const found = described.get(spec.names.kind);
      if (found === undefined) return `the API server does not describe ${name}, which it serves: try again`;
      const [first, ...more] = spec.versions.flatMap(({ schema }) => fieldGaps(schema.openAPIV3Schema, found));
      if (first === undefined) return undefined;
      const fields = more.length === 0 ? first : `${first} (and ${more.length} more)`;
      return `the definition ${name} lacks ${fields}, so it is older than this program: upgrade the chart, which brings the definitions`;
    });
  },
};

/** The metadata is the API server's own. */
function fieldGaps({ properties: { spec = {}, status } = {} }: FieldSchema, served: FieldSchema): string[] {
  return schemaGaps({ properties: status === undefined ? { spec } : { spec, status } }, served);
}

/**
 * Fields of `required` missing in `served`, as paths: `status.sources.backend`. Children of a missing field are not
 * named. Additional fields of `served` are no gap.
 */
export function schemaGaps(required: FieldSchema | undefined, served: FieldSchema | undefined, path = ""): string[] {
  if (required === undefined) return [];
  if (served === undefined) return [path];
  if (served["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  return [
    ...Object.entries(required.properties ?? {}).flatMap(([name, field]) =>
      schemaGaps(field, served.properties?.[name], at(name)),
    ),
    ...schemaGaps(required.items, served.items, `${path}[]`),
    ...schemaGaps(mapOf(required), mapOf(served), at("*")),
  ];
}

function mapOf({ additionalProperties }: FieldSchema): FieldSchema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

async function servedResources(client: KubeClient): Promise<ReadonlySet<string>> {
  const { resources = [] } = await read<{ resources?: readonly { readonly name: string }[] }>(client, PATH);
  return new Set(resources.map(({ name }) => name));
}

async function describedSchemas(client: KubeClient): Promise<ReadonlyMap<string, FieldSchema>> {
  type Document = { components?: { schemas?: Record<string, Described> } };
  const { components } = await read<Document>(client, `/openapi/v3${PATH}`);
  return new Map(
    Object.values(components?.schemas ?? {}).flatMap((schema) => {
      const [own] = schema["x-kubernetes-group-version-kind"] ?? [];
      return own?.group === GROUP ? [[own.kind, schema]] : [];
    }),
  );
}

async function read<T extends object>(client: KubeClient, path: string): Promise<Partial<T>> {
  const text = await client.text(path, {}, { limitBytes: LIMIT_BYTES }).catch(insteadOf(isNotFound, "{}"));
  return JSON.parse(text) as Partial<T>;
}
