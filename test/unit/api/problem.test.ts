import { describe, expect, test } from "@jest/globals";
import { HttpError } from "../../../api/errors.ts";
import { isFault, problemOf } from "../../../api/problem.ts";
import {
  ClusterUnavailable,
  ConfigInvalid,
  CreationFailed,
  EnvironmentConflict,
  EnvironmentNotFound,
  type ErrorCode,
  NameExists,
  RepositoryNotFound,
  TtlExceeded,
} from "../../../crds/errors.ts";

const NOW = new Date("2026-06-01T12:00:00.000Z");
const ALL: ErrorCode[] = [
  ...(["ENV_NAME_EXISTS", "ENV_NOT_FOUND", "ENV_CREATION_FAILED"] as const),
  ...(["ENV_TTL_EXCEEDED", "ENV_REPO_NOT_FOUND", "ENV_CONFIG_INVALID"] as const),
];
const two = [
  { field: "a", message: "is wrong" },
  { field: "", message: "so is this" },
];

describe("problemOf", () => {
  test.each<[Error, number, string, ErrorCode | undefined]>([
    [new NameExists("x"), 400, "Environment name already exists", "ENV_NAME_EXISTS"],
    [new EnvironmentNotFound(), 404, "Environment not found", "ENV_NOT_FOUND"],
    [new TtlExceeded(168), 400, "TTL exceeds the maximum of 168 hours", "ENV_TTL_EXCEEDED"],
    [
      new RepositoryNotFound("x", "backend_repo"),
      400,
      "backend_repo: no backend repository 'x' is registered",
      "ENV_REPO_NOT_FOUND",
    ],
    [new ConfigInvalid(two), 400, "a: is wrong; so is this", "ENV_CONFIG_INVALID"],
    [new EnvironmentConflict("It is protected"), 409, "It is protected", undefined],
    [new CreationFailed({ cause: new Error("inside") }), 500, "Failed to create environment", "ENV_CREATION_FAILED"],
    [new TypeError("inside"), 500, "Failed to create environment", "ENV_CREATION_FAILED"],
    [new HttpError("forbidden", "No"), 403, "No", undefined],
    [new HttpError("not-found", "Not found"), 404, "Not found", undefined],
  ])("%p is %d", (error, status, detail, code) => {
    const { body, ...answer } = problemOf(error, { errors: ALL, version: "v2" }, NOW);
    const { violations: _, ...said } = body;
    expect(answer).toEqual({ status, headers: {} });
    expect(said).toEqual({
      detail,
      status_code: status,
      timestamp: NOW.toISOString(),
      ...(code ? { error_code: code } : {}),
    });
    expect(isFault(error)).toBe(status === 500);
  });

  test.each<[Error, readonly object[] | undefined]>([
    [new ConfigInvalid(two), two],
    [new HttpError("malformed", "a: is wrong; so is this", { violations: two }), two],
    [
      new RepositoryNotFound("x", "backend_repo"),
      [{ field: "backend_repo", message: "no backend repository 'x' is registered" }],
    ],
    [new TtlExceeded(168), undefined],
    [new HttpError("malformed", "The body is not valid JSON"), undefined],
    [new TypeError("inside"), undefined],
  ])("%p says of each field what is wrong with it, if it is about fields", (error, violations) => {
    expect(problemOf(error, { errors: ALL, version: "v2" }, NOW).body.violations).toEqual(violations);
    expect(problemOf(error, { errors: ALL, version: "v1" }, NOW).body).not.toHaveProperty("violations");
  });

  test("leaves out a code that the route does not know, and speaks of no creation then", () => {
    expect(problemOf(new Error("inside"), { errors: [], version: "v2" }, NOW).body).toEqual({
      detail: "Internal server error",
      status_code: 500,
      timestamp: NOW.toISOString(),
    });
    expect(problemOf(new ClusterUnavailable(3), { errors: [], version: "v2" }, NOW).body).not.toHaveProperty(
      "error_code",
    );
  });

  test.each<[Error, Record<string, string>]>([
    [new ClusterUnavailable(2.2), { "Retry-After": "3" }],
    [new NameExists("x", 10), { "Retry-After": "10" }],
    [new HttpError("rate-limited", "", { retryAfterSeconds: 0.2 }), { "Retry-After": "1" }],
    [new HttpError("method-not-allowed", "", { allow: "GET" }), { Allow: "GET" }],
    [new HttpError("unauthenticated", ""), { "WWW-Authenticate": "Bearer" }],
  ])("%p carries %j", (error, headers) => {
    expect(problemOf(error, { errors: ALL, version: "v2" }, NOW).headers).toEqual(headers);
  });
});
