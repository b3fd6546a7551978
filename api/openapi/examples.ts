import { ERRORS, type ErrorRow, isErrorCode } from "../errors.ts";
import { problemBody } from "../problem.ts";
import type { Contract } from "../route.ts";
import type { DocumentPart } from "./schemas.ts";

const MOMENT = "2026-06-01T12:00:00.000Z";

/** Example of a text without one, and without a format; a test fails on it. */
export const NO_EXAMPLE = "(no example)";

/** Value of the schema: its own example, else composed of its parts' examples. */
export function exampleOf(schema: DocumentPart): unknown {
  const { examples, enum: values } = schema as { readonly examples?: unknown[]; readonly enum?: unknown[] };
  if (examples !== undefined) return examples[0];
  if ("default" in schema) return schema.default;
  if (values !== undefined) return values[0];
  const [type = "object"] = [schema.type].flat().map(String);
  return (BY_TYPE[type] ?? (() => null))(schema);
}

const BY_TYPE: Readonly<Record<string, (schema: DocumentPart) => unknown>> = {
  object: ({ properties = {} }) =>
    Object.fromEntries(
      Object.entries(properties as DocumentPart).map(([name, part]) => [name, exampleOf(part as DocumentPart)]),
    ),
  array: ({ items }) => [exampleOf(items as DocumentPart)],
  boolean: () => false,
  integer: ({ minimum = 1 }) => minimum,
  number: ({ minimum = 1 }) => minimum,
  string: ({ format }) => (format === "date-time" || format === "instant" ? MOMENT : NO_EXAMPLE),
};

/** A code by itself, `not-found` as `NotFound`. */
const exampleName = (row: string) =>
  isErrorCode(row) ? row : row.replaceAll(/(?:^|-)(\w)/g, (_all, first: string) => first.toUpperCase());

/** A path's other methods are no operations. */
const ROWS = Object.entries(ERRORS).filter(([row]) => row !== "method-not-allowed");

/** Every example error of replies, by name. */
export const PROBLEM_EXAMPLES: DocumentPart = Object.fromEntries(
  ROWS.map(([row, { status, example: detail, violations = [] }]: [string, ErrorRow]) => {
    const code = isErrorCode(row) ? row : undefined;
    const value = problemBody({ status, detail, code, violations, now: new Date(MOMENT) });
    return [exampleName(row), { summary: detail, value }];
  }),
);

/** Examples of an operation's errors with this status. */
export function problemExamples(status: number, { errors }: Contract): DocumentPart {
  const rows = ROWS.filter(([, error]) => error.status === status).map(([row]) => row);
  const codes = rows.filter((row) => isErrorCode(row) && errors.includes(row));
  const kinds = rows.filter((row) => !isErrorCode(row));
  // A 404 without a code differs from one with a code; a route with both lists `not-found`.
  const isCoded = status === ERRORS["not-found"].status && codes.length > 0 && !errors.includes("not-found");
  const names = (isCoded ? codes : [...codes, ...kinds]).map(exampleName);
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }]));
}
