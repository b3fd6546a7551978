import { describe, expect, test } from "@jest/globals";
import { branchesOf } from "../../../support/charts/branches.ts";

const FAIL = '{{ fail "this branch is reached" }}';

describe("the branches of a template", () => {
  test.each([
    { name: "none", template: "a: {{ .b }}", expected: [] },
    { name: "a definition is none", template: '{{ define "a" }}b{{ end }}', expected: [] },
    { name: "a comment is none", template: "{{/* {{ if .a }} */}}", expected: [] },
    {
      name: "a condition without an else",
      template: "\n{{- if .a }}b{{- end }}",
      expected: [`\n{{- if .a }}${FAIL}b{{- end }}`, `\n{{- if .a }}b{{ else }}${FAIL}{{- end }}`],
    },
    {
      name: "a condition with an else",
      template: "{{ with .a }}b{{ else }}c{{ end }}",
      expected: [`{{ with .a }}${FAIL}b{{ else }}c{{ end }}`, `{{ with .a }}b{{ else }}${FAIL}c{{ end }}`],
    },
    {
      name: "a list in a condition, the list first",
      template: "{{ if .a }}{{ range .b }}c{{ end }}{{ end }}",
      expected: [
        `{{ if .a }}{{ range .b }}${FAIL}c{{ end }}{{ end }}`,
        `{{ if .a }}${FAIL}{{ range .b }}c{{ end }}{{ end }}`,
        `{{ if .a }}{{ range .b }}c{{ end }}{{ else }}${FAIL}{{ end }}`,
      ],
    },
  ])("$name", ({ template, expected }) => {
    expect(branchesOf(template).map(({ mutant }) => mutant)).toEqual(expected);
  });

  test("are named by their line and their condition", () => {
    expect(branchesOf("\n{{- if .a }}b{{- end }}").map(({ what }) => what)).toEqual([
      "line 2, {{- if .a }} is true",
      "line 2, {{- if .a }} is false",
    ]);
  });

  test.each([
    ["{{ if .a }}b", /without an end/],
    ["b{{ end }}", /an end of nothing/],
  ])("are not looked for in what is no template: %s", (template, words) => {
    expect(() => branchesOf(template)).toThrow(words);
  });
});
