import { describe, expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { NO_EXAMPLE } from "../../../../api/openapi/examples.ts";
import { document, type Json, type Operation, operations, resolved } from "./generated-document.ts";

const at = (value: unknown, pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((part, key) => (part as Json | undefined)?.[key], value);
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { "environment-name": true, "config-set-name": true, "git-branch": true },
});
addFormats(ajv);
ajv.addSchema(document, "openapi");

function errorsOf(schema: unknown, example: unknown): unknown[] {
  const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
  const validate = ajv.compile(local);
  return validate(example) ? [] : (validate.errors ?? []);
}

/** Parts of an operation with a schema and examples: parameters, bodies and headers, errors included. */
function exemplified({ parameters, requestBody, responses }: Operation): readonly (readonly [string, Json])[] {
  const replies = Object.entries(responses).flatMap(([status, { content, headers }]) => [
    ...Object.entries(content).map(([type, media]) => [`${status} ${type}`, media] as const),
    ...Object.entries(headers).map(([header, reference]) => [`${status} ${header}`, reference as Json] as const),
  ]);
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, media]) => [`body ${type}`, media] as const);
  const named = parameters.map((parameter) => [`parameter ${resolved(parameter).name}`, parameter] as const);
  return [...named, ...bodies, ...replies].map(([place, part]) => [place, resolved(part)] as const);
}

const examplesOf = ({ example, examples = {}, schema }: Json): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...(((schema as Json).examples ?? []) as unknown[]),
  ...Object.values(examples as Record<string, Json>).map((reference) => resolved(reference).value),
];

describe("examples", () => {
  test.each(operations)("of $name are there for every part, and are what they exemplify", ({ operation }) => {
    for (const [place, part] of exemplified(operation)) {
      const examples = examplesOf(part);
      expect({ place, count: examples.length > 0 }).toEqual({ place, count: true });
      for (const example of examples) {
        expect({ place, example, errors: errorsOf(part.schema, example) }).toEqual({ place, example, errors: [] });
        expect({ place, example: JSON.stringify(example) }).not.toMatchObject({
          example: expect.stringContaining(NO_EXAMPLE),
        });
      }
    }
  });

  test("of schemas are valid", () => {
    for (const [title, schema] of Object.entries(document.components.schemas ?? {})) {
      for (const example of (schema.examples ?? []) as unknown[]) {
        expect({ title, errors: errorsOf(schema, example) }).toEqual({ title, errors: [] });
      }
    }
  });

  test("of a reply that has two states show each under its status", () => {
    const { responses = {} } = document.paths["/api/ready"]?.get ?? {};
    const shown = (status: string) => at(responses[status]?.content["application/json"], "/example/status");
    expect([shown("200"), shown("503")]).toEqual(["ready", "not ready"]);
  });
});

describe("links", () => {
  const linked = operations.flatMap(({ name, operation }) =>
    Object.values(operation.responses).flatMap(({ links = {}, content }) =>
      Object.values(links).map((link) => ({ name, link, example: content["application/json"]?.example })),
    ),
  );

  test.each(linked)("of $name take $link.operationId what the reply holds", ({ link, example }) => {
    const target = operations.find(({ operation }) => operation.operationId === link.operationId);
    for (const [parameter, expression] of Object.entries(link.parameters)) {
      expect(target?.path).toContain(`{${parameter}}`);
      expect(at(example, expression.replace("$response.body#", ""))).toEqual(expect.any(String));
    }
  });

  test("lead to every operation that asks for an id", () => {
    const reached = new Set(linked.map(({ link }) => link.operationId));
    const lost = operations.filter(({ path, operation }) => /id\}/.test(path) && !reached.has(operation.operationId));
    expect(lost.map(({ name }) => name)).toEqual([]);
  });
});
