import { describe, expect, test } from "@jest/globals";
import {
  bytesOfVariables,
  COMPONENT_MAX_BYTES,
  type ComponentVariables,
  ENVIRONMENT_MAX_BYTES,
  variablesProblem,
} from "../../../crds/variable-limits.ts";

const sized = (bytes: number) => ({ name: "A", value: "x".repeat(bytes - bytesOfVariables([{ name: "A" }])) });

describe("the size of variables", () => {
  test.each([
    ["is that of their JSON", "x", 1],
    ["counts bytes", "ö", 2],
    ["counts what JSON escapes", '"', 2],
    ["counts what Go escapes in JSON", "&", 6],
    ["counts a dollar sign twice, which the chart doubles", "$", 2],
    ["counts nothing for a reference", undefined, 0],
  ])("%s", (_rule, value, bytes) => {
    const without = bytesOfVariables([{ name: "A", value: "" }]);
    expect(bytesOfVariables([{ name: "A", ...(value === undefined ? {} : { value }) }]) - without).toBe(bytes);
  });
});

describe("the variables of an environment", () => {
  test.each<[string, ComponentVariables, object | undefined]>([
    ["fit, where there are none", [["backend", []]], undefined],
    ["fit, where a component is full", [["backend", [sized(COMPONENT_MAX_BYTES)]]], undefined],
    [
      "are too much for a component",
      [["frontend", [sized(COMPONENT_MAX_BYTES + 1)]]],
      {
        component: "frontend",
        message: expect.stringMatching(/^the variables of the frontend have 241 KiB as JSON, and may have 240:/),
      },
    ],
    [
      "fit together",
      [
        ["backend", [sized(COMPONENT_MAX_BYTES)]],
        ["frontend", [sized(ENVIRONMENT_MAX_BYTES - COMPONENT_MAX_BYTES)]],
      ],
      undefined,
    ],
    [
      "are too much together",
      [
        ["backend", [sized(COMPONENT_MAX_BYTES)]],
        ["frontend", [sized(ENVIRONMENT_MAX_BYTES - COMPONENT_MAX_BYTES + 1)]],
      ],
      { message: expect.stringMatching(/^the variables of all components have 257 KiB as JSON, and may have 256:/) },
    ],
  ])("%s", (_rule, components, problem) => {
    expect(variablesProblem(components)).toEqual(problem);
  });
});
