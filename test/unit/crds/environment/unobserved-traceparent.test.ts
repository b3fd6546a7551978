import { expect, test } from "@jest/globals";
import { unobservedTraceparent } from "../../../../crds/environment/ephemeral-environment.ts";
import {
  AUDIT_ID_ANNOTATION,
  DELETION_TRACEPARENT_ANNOTATION,
  TRACEPARENT_ANNOTATION,
} from "../../../../crds/group.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const SPAN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const traced = { [AUDIT_ID_ANNOTATION]: "new", [TRACEPARENT_ANNOTATION]: SPAN };

test.each([
  ["a change that no reconcile has seen", traced, undefined, SPAN],
  ["a change after one that was seen", traced, "old", SPAN],
  ["a change that was seen", traced, "new", undefined],
  ["a change that was not traced", { [AUDIT_ID_ANNOTATION]: "new" }, "old", undefined],
  ["an annotation without a record, which anybody may write", { [TRACEPARENT_ANNOTATION]: SPAN }, undefined, undefined],
  ["an id that no status can hold", { ...traced, [AUDIT_ID_ANNOTATION]: "x".repeat(65) }, undefined, undefined],
])("the span of %s", (_what, annotations, observed, span) => {
  const environment = environmentFixture({ metadata: { annotations } });
  const status = observed === undefined ? {} : { status: { ...environment.status, observedAuditId: observed } };
  expect(unobservedTraceparent({ metadata: environment.metadata, ...(status as object) })).toBe(span);
});

test("the span of a deletion counts from its request until a status has it", () => {
  const deletion = SPAN.replace("b7ad6b7169203331", "00f067aa0ba902b7");
  const annotations = { ...traced, [DELETION_TRACEPARENT_ANNOTATION]: deletion };
  const noted = environmentFixture({ metadata: { annotations }, status: { observedAuditId: "new" } });
  expect(unobservedTraceparent(noted)).toBeUndefined();
  const deleted = { ...noted, metadata: { ...noted.metadata, deletionTimestamp: "2026-01-01T01:00:00Z" } };
  expect(unobservedTraceparent(deleted)).toBe(deletion);
  const teardown = { steps: [], before: { phase: "ready" as const } };
  expect(unobservedTraceparent({ ...deleted, status: { ...deleted.status, teardown } })).toBeUndefined();
});
