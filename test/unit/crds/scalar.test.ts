import { describe, expect, test } from "@jest/globals";
import { scalarOf } from "../../../crds/scalar.ts";

describe("the value of an override", () => {
  test.each([
    ['"text"', "text"],
    ['""', ""],
    ["12", 12],
    ["-0.5", -0.5],
    ["true", true],
    ["null", null],
    ['"{{ .Values }} $ARGOCD_APP_NAME\\n"', "{{ .Values }} $ARGOCD_APP_NAME\n"],
    ["text", undefined],
    ["", undefined],
    ["{}", undefined],
    ["[1]", undefined],
    ["1e400", undefined],
    ["1e21", undefined],
    ["12345678901234567890", undefined],
    ["-0", 0],
    ['"\\ud800"', undefined],
    ['"\\ud83d\\ude00"', "\u{1f600}"],
  ])("%s is %p", (value, expected) => {
    expect(scalarOf(value)).toBe(expected);
  });
});
