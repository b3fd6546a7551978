import { describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { settingRows } from "../../../config/setting-rows.ts";
import { Settings } from "../../../config/settings.schema.ts";

describe("the table of settings", () => {
  const rows = settingRows(Settings);

  test("says of every setting what it means, and has each once", () => {
    expect(rows.filter(({ meaning }) => !/[A-Z`/].*\.$/.test(meaning))).toEqual([]);
    expect(new Set(rows.map(({ path }) => path)).size).toBe(rows.length);
    // A group without its own text is represented by its parts.
    const first = new Set(rows.map(({ path }) => path.split(/[.[]/)[0]));
    expect([...first]).toEqual(Object.keys(Settings.properties));
  });

  test.each([
    ["what must be said", "baseDomain", { type: "string", fallback: "**Required**" }],
    ["a default", "logLevel", { type: "`debug`, `info`, `warn`, `error`", fallback: "`info`" }],
    ["bounds", "publicPort", { type: "integer 1–65535", fallback: "`443`" }],
    ["a lower bound", "reconcile.probeSeconds", { type: "integer ≥ 5" }],
    ["what may be left out", "publicUrl", { fallback: "" }],
    ["a part of each entry of a list", "api.issuers[].audience", { fallback: "**Required**" }],
    ["a list", "api.corsOrigins", { type: "list of string", fallback: "`[]`" }],
    ["a map", "isolation.defaultLimit", { type: "map" }],
    ["a choice of shapes", "secretManager", { type: "object, by its `kind`: `embedded`, `google`" }],
    ["what Kubernetes describes", "isolation.dns", { type: "list of NetworkPolicyPeer" }],
    ["a group with a word of its own", "tracing", { type: "object", fallback: "" }],
  ])("tells %s", (_, path, expected) => {
    expect(rows.find((row) => row.path === path)).toMatchObject(expected);
  });

  test("names the kind that a setting is a part of", () => {
    const project = rows.find(({ path }) => path === "secretManager.project");
    expect(project?.meaning).toMatch(/^With `kind: google`\. The id of the Google Cloud project/);
  });

  test("takes maps of named parts, upper bounds and plain choices apart", () => {
    const schema = Type.Object({
      hooks: Type.Record(Type.String(), Type.Object({ url: Type.String({ description: "Where." }) })),
      share: Type.Union([Type.Number({ maximum: 1 }), Type.Literal("all")]),
    });
    expect(settingRows(schema)).toEqual([
      { path: "hooks", type: "map", fallback: "**Required**", meaning: "" },
      { path: "hooks.<name>.url", type: "string", fallback: "**Required**", meaning: "Where." },
      { path: "share", type: "number ≤ 1, `all`", fallback: "**Required**", meaning: "" },
    ]);
  });
});
