import { Ajv2020, type AnySchemaObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import type { HostAnswer, HostCall, HostContract } from "../recording-host.ts";
import published from "./operations.json" with { type: "json" };

interface Content {
  readonly "application/json": { schema: AnySchemaObject; readonly example?: unknown };
}
interface Operation {
  readonly parameters: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, AnySchemaObject>> };
}

interface Checks {
  readonly pattern: RegExp;
  /** Validates path and query values, which are texts. */
  readonly values: ValidateFunction;
  readonly body: ValidateFunction | undefined;
  /** Answers by success status; `undefined`: no body. */
  readonly answers: ReadonlyMap<number, ValidateFunction | undefined>;
  /** The published example of an answer. */
  readonly example: unknown;
}

const JSON_TYPE = "application/json";
const description: Description = structuredClone(published);
const { schemas } = description.components;
const ajv = new Ajv2020({ strict: false, logger: false });
const texts = new Ajv2020({ strict: false, coerceTypes: true, logger: false });
/** Compiled on the first call. */
let operations: readonly Checks[] | undefined;

/**
 * GitHub's published description of its REST API, https://github.com/octokit/openapi, for the operations in `extract.ts`. It
 * is stricter than GitHub, which ignores unknown fields and parameters. It does not cover GraphQL.
 */
export const githubContract: HostContract = {
  breachOf(call) {
    if (call.route === "POST /graphql") return undefined;
    const found = operationOf(call);
    if (found === undefined) return `${call.route} is not in github-rest/operations.json`;
    const { checks, values } = found;
    if (!checks.values(values)) return texts.errorsText(checks.values.errors, { dataVar: "parameters" });
    if (checks.body === undefined) return Object.keys(call.body).length === 0 ? undefined : "it takes no body";
    return checks.body(call.body) ? undefined : ajv.errorsText(checks.body.errors, { dataVar: "body" });
  },
  breachIn(call, { status, body }) {
    const checks = operationOf(call)?.checks;
    if (checks === undefined || status >= 300) return undefined;
    if (!checks.answers.has(status)) return `it never answers ${status}`;
    const check = checks.answers.get(status);
    if (check === undefined) return body === undefined ? undefined : "its answer has no body";
    return check(body) ? undefined : ajv.errorsText(check.errors, { dataVar: "answer" });
  },
};

/** GitHub's published example, overlaid with the answer. */
export function githubAnswer(call: HostCall, answer: HostAnswer): HostAnswer {
  const example = operationOf(call)?.checks.example;
  if (answer.status >= 300 || answer.body === undefined || example === undefined) return answer;
  return { ...answer, body: overlaid(example, answer.body) };
}

/** Overlays each entry of a list on the example's first one. */
function overlaid(example: unknown, said: unknown): unknown {
  if (Array.isArray(said)) return said.map((one) => overlaid(Array.isArray(example) ? example[0] : undefined, one));
  if (!isObject(said) || !isObject(example)) return said;
  const entries = Object.entries(said).map(([name, value]) => [name, overlaid(example[name], value)]);
  return { ...example, ...Object.fromEntries(entries) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function operationOf({ route }: HostCall) {
  const [path = "", query] = route.split("?");
  operations ??= compiled();
  for (const checks of operations) {
    const found = checks.pattern.exec(path);
    if (found !== null) {
      const values = { ...found.groups, ...Object.fromEntries(new URLSearchParams(query)) };
      return { checks, values };
    }
  }
  return undefined;
}

function compiled(): readonly Checks[] {
  const all = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  for (const { operation } of all) {
    const content = operation.requestBody?.content[JSON_TYPE];
    if (content !== undefined) content.schema = closed(content.schema);
  }
  for (const validator of [ajv, texts]) {
    (addFormatsModule as unknown as (validator: Ajv2020) => void)(validator);
    validator.addSchema(description, "github", undefined, false);
  }
  return all.map(checksOf);
}

/** Closes a body's schema to unlisted fields, at any depth. */
function closed(schema: AnySchemaObject): AnySchemaObject {
  if (typeof schema.$ref === "string") return closed(schemas[schema.$ref.slice("#/components/schemas/".length)] ?? {});
  if (schema.properties === undefined) return schema;
  const properties = Object.entries<AnySchemaObject>(schema.properties).map(([name, one]) => [name, closed(one)]);
  return { ...schema, properties: Object.fromEntries(properties), additionalProperties: false };
}

interface Place {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function checksOf({ path, method, operation: { parameters, requestBody, responses } }: Place): Checks {
  const at = (...parts: readonly (string | number)[]) => ({
    $ref: `github#/${["paths", path, method, ...parts].map(pointer).join("/")}`,
  });
  const properties = parameters.map(({ name }, index) => [name, at("parameters", index, "schema")]);
  const answers = Object.entries(responses).map(([status, { content }]) => {
    const schema = at("responses", status, "content", JSON_TYPE, "schema");
    return [Number(status), content && ajv.compile(schema)] as const;
  });
  const [success] = Object.values(responses);
  return {
    pattern: new RegExp(`^${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    values: texts.compile({ type: "object", properties: Object.fromEntries(properties), additionalProperties: false }),
    body: requestBody && ajv.compile(at("requestBody", "content", JSON_TYPE, "schema")),
    answers: new Map(answers),
    example: success?.content?.[JSON_TYPE].example,
  };
}

/** A part of a JSON pointer in a URI fragment. */
const pointer = (part: string | number) => encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1"));
