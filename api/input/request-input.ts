import type { IncomingMessage } from "node:http";
import type { TSchema } from "typebox";
import { ConfigInvalid, describeViolations, TtlExceeded } from "../../crds/errors.ts";
import type { BodyMemory, HeldBytes } from "../../operator/kit/body-memory.ts";
import { HttpError } from "../errors.ts";
import type { Contract } from "../route.ts";
import { fieldsOf } from "./fields.ts";
import { checkDepth, parseJson, utf8Text } from "./json-text.ts";
import { chunksOf, isArriving, isRaw, MAX_RAW_BYTES } from "./raw-body.ts";
import { type Checked, checker, type SchemaFinding } from "./validation.ts";

/** Longer bodies are refused before their end. */
const MAX_BODY_BYTES = 524_288;
const RETRY_SECONDS = 10;

/** Validated parts of a request that a contract describes. */
export interface RequestInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

/**
 * Prepares a contract's checks, and returns a function that reads and validates requests.
 *
 * That function throws HttpError (malformed, too-large, unsupported-media-type, unavailable), ConfigInvalid with
 * everything that is wrong in the body, or TtlExceeded when only a TTL above the maximum is wrong.
 *
 * @param memory holds bodies while they arrive
 */
export function inputReader(contract: Contract, memory: BodyMemory) {
  const checkParams = contract.params && checker(contract.params);
  const checkQuery = contract.query && checker(contract.query);
  const checkHeaders = contract.headers && checker(contract.headers);
  const checkBody = contract.body && checker(contract.body);
  return async (request: IncomingMessage & { params: unknown; originalUrl: string }): Promise<RequestInput> => ({
    params: checkParams && accepted(checkParams({ ...(request.params as object) }), refuseAddress),
    query: checkQuery && accepted(checkQuery(queryOf(request.originalUrl, contract)), refuseAddress),
    headers: checkHeaders && accepted(checkHeaders(headersOf(request, contract)), refuseAddress),
    body: isRaw(contract.body)
      ? await rawBodyOf(request, contract, memory)
      : checkBody && accepted(checkBody(await bodyOf(request, contract, memory)), refuseBody),
  });
}

function accepted<T>(checked: Checked<T>, refuse: (findings: readonly SchemaFinding[]) => Error): T {
  if (checked.valid) return checked.value;
  throw refuse(checked.findings);
}

function refuseAddress(findings: readonly SchemaFinding[]): Error {
  const violations = findings.map(({ field, message }) => ({ field, message }));
  return new HttpError("malformed", describeViolations(violations), { violations });
}

function refuseBody(findings: readonly SchemaFinding[]): Error {
  const [first, ...others] = findings;
  if (others.length === 0 && first?.code === "ENV_TTL_EXCEEDED") return new TtlExceeded(first.maximum ?? 0);
  return new ConfigInvalid(findings.map(({ field, message }) => ({ field: field || "body", message })));
}

function queryOf(url: string, contract: Contract): unknown {
  const start = url.indexOf("?");
  return start < 0 ? {} : fieldsOf(url.slice(start + 1), contract.query, "query");
}

/** Node joins repeated headers with a comma and a space: their schemas refuse spaces. */
function headersOf({ headers }: IncomingMessage, contract: Contract): object {
  const { properties = {} } = (contract.headers ?? {}) as { properties?: object };
  const sent = Object.keys(properties).map((name) => [name, headers[name.toLowerCase()]] as const);
  return Object.fromEntries(sent.filter(([, value]) => value !== undefined));
}

async function rawBodyOf(request: IncomingMessage, { body }: Contract, memory: BodyMemory) {
  if (isArriving(body)) {
    if (mediaType(request) !== "application/json") throw notAccepted("application/json");
    return { chunks: chunksOf(request), headers: request.headers };
  }
  const bytes = await bytesOf(request, MAX_RAW_BYTES, memory);
  if (mediaType(request) !== "application/json") throw notAccepted("application/json");
  checkDepth(bytes);
  return { bytes, headers: request.headers };
}

async function bodyOf(request: IncomingMessage, contract: Contract, memory: BodyMemory): Promise<unknown> {
  const bytes = await bytesOf(request, MAX_BODY_BYTES, memory);
  // A POST without a body needs no Content-Type; the schema names its missing fields.
  if (bytes.length === 0) return {};
  const type = mediaType(request);
  const schema = contract.body ?? {};
  if (type === "application/json") return asMeant(parseJson(bytes), schema);
  if (type === "application/x-www-form-urlencoded" && contract.forms === true) {
    return asMeant(fieldsOf(utf8Text(bytes), schema, "form"), schema);
  }
  throw notAccepted(acceptedTypes(contract));
}

const notAccepted = (types: string) => new HttpError("unsupported-media-type", `Send the body as ${types}`);

function acceptedTypes({ forms }: Contract): string {
  return forms === true ? "application/json or application/x-www-form-urlencoded" : "application/json";
}

/** `type/subtype`. Only UTF-8, and no compression, which can unpack to any size. */
function mediaType({ headers }: IncomingMessage): string {
  const encoding = headers["content-encoding"] ?? "identity";
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";");
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (encoding !== "identity" || !isUtf8) {
    throw new HttpError("unsupported-media-type", "Send the body in UTF-8 and without Content-Encoding");
  }
  return type.trim();
}

async function bytesOf(request: IncomingMessage, most: number, memory: BodyMemory): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > most) throw tooLarge(most);
  const held = memory.begin();
  try {
    await arrival(request, most, held);
    return Buffer.concat(held.pieces());
  } finally {
    held.drop();
  }
}

function arrival(request: IncomingMessage, most: number, held: HeldBytes): Promise<void> {
  return new Promise((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      const isTooLarge = held.length + chunk.length > most;
      if (!isTooLarge && held.add(chunk)) return;
      request.off("data", collect);
      reject(isTooLarge ? tooLarge(most) : tooMany());
    };
    request.on("data", collect);
    request.once("end", () => resolve());
    const cutOff = (cause?: Error) => reject(new HttpError("malformed", "The body was cut off", { cause }));
    request.once("error", cutOff);
    request.once("close", () => cutOff());
  });
}

const tooMany = () =>
  new HttpError("unavailable", "Too many long requests arrive at once", { retryAfterSeconds: RETRY_SECONDS });

const tooLarge = (most: number) => new HttpError("too-large", `The body may have ${most} bytes at most`);

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly "x-number-as-text"?: boolean;
}

/**
 * Normalizes a body before validation: removes an optional `null`, which serializers write for a field without a value;
 * turns a whole number into digits where the schema says so (`x-number-as-text`). Any other `null` stays, and the
 * schema refuses it.
 */
export function asMeant(value: unknown, schema: TSchema): unknown {
  return meant(value, schema as Shape);
}

function meant(value: unknown, shape: Shape): unknown {
  if (Number.isSafeInteger(value) && shape["x-number-as-text"]) return String(value);
  if (typeof value !== "object" || value === null) return value;
  const { properties = {}, required = [], items = {}, additionalProperties } = shape;
  if (Array.isArray(value)) return value.map((item) => meant(item, items));
  const others = typeof additionalProperties === "object" ? additionalProperties : {};
  const shapeOf = (name: string) => (Object.hasOwn(properties, name) ? (properties[name] as Shape) : others);
  const isAbsent = (name: string, field: unknown) =>
    field === null && Object.hasOwn(properties, name) && !required.includes(name);
  const fields = Object.entries(value).filter(([name, field]) => !isAbsent(name, field));
  return Object.fromEntries(fields.map(([name, field]) => [name, meant(field, shapeOf(name))]));
}
