import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { parse } from "yaml";
import { customResourceDefinitions } from "../../../crds/definitions.ts";
import { structural } from "../../../crds/structural.ts";

describe("structural", () => {
  test("says an object as the API server wants it", () => {
    const schema = Type.Object(
      {
        name: Type.String({ minLength: 1, pattern: "^a" }),
        list: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { "x-kubernetes-list-type": "atomic" })),
      },
      { additionalProperties: false, "x-kubernetes-validations": [{ rule: "true" }] },
    );
    expect(structural(schema)).toEqual({
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string", minLength: 1, pattern: "^a" },
        list: { type: "array", items: { type: "integer", minimum: 1 }, "x-kubernetes-list-type": "atomic" },
      },
      "x-kubernetes-validations": [{ rule: "true" }],
    });
  });

  test("says a map with the schema of its values", () => {
    const labels = Type.Object({}, { additionalProperties: Type.String({ maxLength: 63 }), maxProperties: 8 });
    expect(structural(labels)).toEqual({
      type: "object",
      additionalProperties: { type: "string", maxLength: 63 },
      maxProperties: 8,
    });
  });

  test.each([
    ["a union", Type.Object({ a: Type.Union([Type.String(), Type.Integer()]) }), "$.a: keyword 'anyOf'"],
    ["a constant", Type.Object({ a: Type.Literal("x") }), "$.a: keyword 'const'"],
    ["a tuple in a list", Type.Object({ a: Type.Array(Type.Unsafe({ oneOf: [] })) }), "$.a[]: keyword 'oneOf'"],
    ["any field", Type.Object({ a: Type.Object({}, { additionalProperties: true }) }), "$.a: unknown fields"],
    [
      "a map of anything",
      Type.Object({ a: Type.Object({}, { additionalProperties: Type.Unsafe({}) }) }),
      "$.a.*: a structural schema",
    ],
    ["fields and a map", Type.Object({ b: Type.String() }, { additionalProperties: Type.String() }), "$: both fields"],
    ["anything", Type.Object({ a: Type.Unsafe({}) }), "$.a: a structural schema needs a type"],
  ])("refuses %s, and says where", (_what, schema, message) => {
    expect(() => structural(schema)).toThrow(message);
  });
});

describe("the definitions", () => {
  test.each([...customResourceDefinitions()])("%s is what is checked in", (file, manifest) => {
    const checkedIn = parse(
      readFileSync(new URL(`../../../deploy/charts/platform/definitions/${file}`, import.meta.url), "utf8"),
    );
    expect(checkedIn).toEqual(JSON.parse(JSON.stringify(manifest)));
  });

  test.each([...customResourceDefinitions()])("%s bounds every text, list and rule", (_file, manifest) => {
    expect(unbounded(manifest as Node, "$")).toEqual([]);
  });

  test.each([...customResourceDefinitions()])("%s describes the kind and each of its fields", (_file, manifest) => {
    const kind = schemaOf(manifest);
    expect(kind).toHaveProperty("description");
    // The API server describes these fields itself and refuses another description of metadata.
    const { apiVersion: _, kind: __, metadata: ___, ...properties } = kind.properties ?? {};
    expect(undescribed({ ...kind, properties }, "$")).toEqual([]);
  });

  // An invalid path shows an empty column.
  test.each([...customResourceDefinitions()])(
    "%s has columns for kubectl, of fields that it has",
    (_file, manifest) => {
      const { spec } = manifest as { spec: { versions: [{ additionalPrinterColumns: { jsonPath: string }[] }] } };
      const paths = spec.versions[0].additionalPrinterColumns.map(({ jsonPath }) => jsonPath);
      expect(paths.length).toBeGreaterThan(3);
      expect(
        paths.filter((path) => !path.startsWith(".metadata.") && !leadsSomewhere(path, schemaOf(manifest))),
      ).toEqual([]);
    },
  );

  // Client-side `kubectl apply` keeps the object in one annotation; all annotations together have 256 KiB.
  test.each([...customResourceDefinitions()])("%s fits into an annotation", (_file, manifest) => {
    expect(Buffer.byteLength(JSON.stringify(manifest))).toBeLessThan(256 * 1024);
  });
});

interface Node {
  readonly [field: string]: unknown;
}

interface FieldSchema {
  readonly description?: string;
  readonly properties?: { readonly [field: string]: FieldSchema };
  readonly items?: FieldSchema;
  readonly additionalProperties?: FieldSchema;
}

function schemaOf(manifest: object): FieldSchema {
  const { spec } = manifest as { spec: { versions: [{ schema: { openAPIV3Schema: FieldSchema } }] } };
  return spec.versions[0].schema.openAPIV3Schema;
}

/** True when the path has a field; `[?(…)]` selects from a list. */
function leadsSomewhere(jsonPath: string, schema: FieldSchema): boolean {
  const fields = jsonPath
    .replace(/\[[^\]]*\]/g, ".[]")
    .split(".")
    .filter(Boolean);
  const found = fields.reduce<FieldSchema | undefined>(
    (at, field) => (field === "[]" ? at?.items : at?.properties?.[field]),
    schema,
  );
  return found !== undefined;
}

/** Fields without a description for `kubectl explain`, including those in lists and maps. */
function undescribed({ properties = {}, items, additionalProperties }: FieldSchema, path: string): string[] {
  return [
    ...Object.entries(properties).flatMap(([field, schema]) => [
      ...(schema.description ? [] : [`${path}.${field}`]),
      ...undescribed(schema, `${path}.${field}`),
    ]),
    ...(items ? undescribed(items, `${path}[]`) : []),
    ...(additionalProperties ? undescribed(additionalProperties, `${path}.*`) : []),
  ];
}

/** Strings and lists without a maximum: CEL refuses rules over them for their cost, and etcd stores them. */
function unbounded(node: Node, path: string): string[] {
  const isOpen =
    (node.type === "string" && node.maxLength === undefined && node.enum === undefined) ||
    (node.type === "array" && node.maxItems === undefined);
  const isSchema = path.includes("openAPIV3Schema") && !/\.(apiVersion|kind)$/.test(path);
  const children = Object.entries(node).filter(([, value]) => typeof value === "object" && value !== null);
  return [
    ...(isSchema && isOpen ? [path] : []),
    ...children.flatMap(([field, value]) => unbounded(value as Node, `${path}.${field}`)),
  ];
}
