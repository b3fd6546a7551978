import { describe, expect, test } from "@jest/globals";
import { answersKey, creationMark, markAnnotations } from "../../../../crds/environment/idempotency-record.ts";
import { CREATION_MARK_ANNOTATION } from "../../../../crds/group.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
} from "../../../support/fixtures/environment/environment-fixture.ts";

const mark = { key: "a-key", request: "a-request" };
const DAY_MINUTES = 24 * 60;

describe("the mark of the request that made an environment", () => {
  test("is what it was made with", () => {
    expect(creationMark(environmentFixture({ metadata: { annotations: markAnnotations(mark) } }))).toEqual(mark);
  });

  test.each(["", ".", "key", "key.", ".request", "a.b.c"])("is none when it reads %j", (text) => {
    const annotations = { [CREATION_MARK_ANNOTATION]: text };
    expect(creationMark(environmentFixture({ metadata: { annotations } }))).toBeUndefined();
    expect(creationMark(environmentFixture())).toBeUndefined();
  });
});

describe("an environment is the answer to a key", () => {
  test.each([
    { name: "that it was made with", key: "a-key", expected: true },
    { name: "no other", key: "another", expected: false },
    { name: "for almost a day", key: "a-key", minutes: DAY_MINUTES - 1, expected: true },
    { name: "no longer than a day", key: "a-key", minutes: DAY_MINUTES, expected: false },
    { name: "although our clock is behind the server's", key: "a-key", minutes: -1, expected: true },
    { name: "while it is being deleted", key: "a-key", metadata: { deletionTimestamp: CREATED }, expected: true },
  ])("$name", ({ key, minutes = 0, metadata = {}, expected }) => {
    const annotations = markAnnotations(mark);
    const environment = environmentFixture({ metadata: { annotations, ...metadata } });
    expect(answersKey(environment, key, minutesLater(minutes))).toBe(expected);
  });
});
