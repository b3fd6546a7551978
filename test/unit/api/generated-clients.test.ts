/**
 * Requirements of client generators beyond OpenAPI 3.1. The stage `generators` runs them; this test finds their former
 * obstacles at once, also for languages whose tools are not installed.
 */
import { expect, test } from "@jest/globals";
import { openApiDocument } from "../../../api/openapi/document.ts";
import { listRoutes } from "../../../api/routes.ts";

type Json = Readonly<Record<string, unknown>>;
interface Place {
  readonly path: string;
  readonly part: Json;
}

const document = openApiDocument(listRoutes()) as {
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
};
const { schemas = {}, securitySchemes = {} } = document.components;
const titles = Object.keys(schemas);

/** Objects of the document with their paths; examples are values, not parts of the document. */
function places(part: unknown, path = "#"): Place[] {
  if (typeof part !== "object" || part === null) return [];
  const children = Object.entries(part).filter(([key]) => key !== "example" && key !== "examples");
  const deeper = children.flatMap(([key, child]) => places(child, `${path}/${key}`));
  return Array.isArray(part) ? deeper : [{ path, part: part as Json }, ...deeper];
}

const everything = places(document);
const pathsWhere = (isWrong: (part: Json) => boolean) =>
  everything.filter(({ part }) => isWrong(part)).map(({ path }) => path);

test("a value has one type, beside null: oapi-codegen refuses several, openapi-generator's Python falls over them", () => {
  const isSeveral = ({ type }: Json) => Array.isArray(type) && type.filter((one) => one !== "null").length > 1;
  expect(pathsWhere(isSeveral)).toEqual([]);
});

test("a schema of several forms names each: client programmers write these names", () => {
  const isNameless = ({ oneOf = [] }: Json) => (oneOf as Json[]).some(({ $ref, type }) => !$ref && type !== "null");
  expect(pathsWhere(isNameless)).toEqual([]);
});

test("names of schemas differ by more than case: each is a file, and not every disk distinguishes case", () => {
  expect(new Set(titles.map((title) => title.toLowerCase())).size).toBe(titles.length);
});

test("no schema is named like a generated function or type of another: openapi-generator's Go has NewToken() for Token, and NullableToken", () => {
  const made = titles.flatMap((title) => [`New${title}`, `Nullable${title}`, `NewNullable${title}`]);
  expect(titles.filter((title) => made.includes(title))).toEqual([]);
});

test("no schema has a field of its own name: openapi-python-client has one variable for both", () => {
  const snakeCase = (title: string) => title.replaceAll(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
  const hasItself = (title: string) =>
    Object.keys((schemas[title]?.properties ?? {}) as Json).includes(snakeCase(title));
  expect(titles.filter(hasItself)).toEqual([]);
});

test("a header is plain text: openapi-python-client leaves out an operation with a moment in an optional one", () => {
  const hasFormat = ({ in: place, schema }: Json) => place === "header" && (schema as Json).format !== undefined;
  expect(pathsWhere(hasFormat)).toEqual([]);
});

test("a form has no class in a client: openapi-python-client sends JSON as a form, openapi-generator leaves it out", () => {
  const FORM = /application\/x-www-form-urlencoded\/schema$/;
  const forms = everything.filter(({ path }) => FORM.test(path));
  expect(forms.length).toBeGreaterThan(0);
  expect(forms.filter(({ part }) => part.$ref ?? part.properties).map(({ path }) => path)).toEqual([]);
});

test("a bearer token has the format JWT or none: openapi-generator's Python knows no other", () => {
  const formats = Object.values(securitySchemes).map(({ bearerFormat }) => bearerFormat ?? "JWT");
  expect([...new Set(formats)]).toEqual(["JWT"]);
});

test("a field that a config set may decide has no default: openapi-python-client sends those of the document", () => {
  const { ttl, provision_database: database } = (schemas.CreateEnvironmentRequest?.properties ?? {}) as Readonly<
    Record<string, Json>
  >;
  expect(ttl).toMatchObject({ type: "integer", maximum: 168 });
  expect([ttl, database].filter((field) => field?.default !== undefined)).toEqual([]);
});
