import { expect } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { openApiDocument } from "../../../api/openapi/document.ts";
import { listRoutes } from "../../../api/routes.ts";
import { describeViolations, type Violation } from "../../../crds/errors.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly text?: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Header {
  readonly required?: boolean;
}

interface Reply {
  readonly headers?: Readonly<Record<string, Header>>;
}
interface PlacedReply extends Reply {
  readonly $ref?: string;
}

interface Operation {
  readonly responses: Readonly<Record<string, PlacedReply>>;
}

const document = openApiDocument(listRoutes()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Reply>> };
};
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { "environment-name": true, "config-set-name": true, "git-branch": true },
});
addFormats(ajv);
ajv.addSchema(document, "openapi");

const pointer = (part: string) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));

/** The documented reply to an operation with this status, and its path in the document. */
function replyOf(method: string, path: string, status: number) {
  const reply = document.paths[path]?.[method]?.responses[status];
  if (reply === undefined) throw new Error(`${method} ${path} does not announce ${status}`);
  const [, shared] = /^#\/components\/responses\/(\w+)$/.exec(reply.$ref ?? "") ?? [];
  if (shared === undefined) return { reply, place: ["paths", path, method, "responses", String(status)] };
  return { reply: document.components.responses[shared], place: ["components", "responses", shared] };
}

/** Fails unless the OpenAPI document has this status for the operation, with this body and these headers. */
export function expectPromised(answer: Answer, method: string, path: string): void {
  const { reply, place } = replyOf(method, path, answer.status);
  const [type = ""] = (answer.headers["content-type"] ?? "").split(";");
  const parts = [...place, "content", type, "schema"];
  const validate = ajv.compile({ $ref: `openapi#/${parts.map(pointer).join("/")}` });
  const said = type === "application/json" ? answer.body : answer.text;
  expect({ valid: validate(said), errors: validate.errors ?? [], body: answer.body }).toMatchObject({
    valid: true,
  });
  const promised = Object.entries(reply?.headers ?? {}).filter(([, { required }]) => required !== false);
  const absent = promised.map(([name]) => name).filter((name) => !(name.toLowerCase() in answer.headers));
  expect(absent).toEqual([]);
}

/** Operations of the document, as `[method, path]`, in both versions. */
export function operations(): readonly (readonly [string, string])[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => [method, path] as const),
  );
}

/** Fails unless the answer is an error in the contract's words. */
export function expectProblem(answer: Answer, status: number, detail?: string | RegExp, code?: string): void {
  const { violations, ...body } = answer.body as {
    readonly violations?: readonly Violation[];
    readonly detail: string;
  };
  if (violations !== undefined) expect(describeViolations(violations)).toBe(body.detail);
  expect(body).toEqual({
    detail:
      detail === undefined ? expect.any(String) : detail instanceof RegExp ? expect.stringMatching(detail) : detail,
    status_code: status,
    ...(code === undefined ? {} : { error_code: code }),
    timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  });
  expect(answer.status).toBe(status);
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
}
