import { describe, expect, test } from "@jest/globals";
import { circles, forbidden, importsOf } from "../../lint/import-rules.ts";
import { ZONES } from "../../lint/zones.ts";

describe("the imports of a source", () => {
  test.each([
    ['import { a } from "../b.ts";', "operator/b.ts", false],
    ['import type { A } from "../b.ts";', "operator/b.ts", true],
    ['import { type A, type B } from "../b.ts";', "operator/b.ts", true],
    ['import { type A, b } from "../b.ts";', "operator/b.ts", false],
    ['import {\n  type A,\n  b,\n} from "./b.ts";', "operator/kit/b.ts", false],
    ['export { a } from "../b.ts";', "operator/b.ts", false],
    ['export type { A } from "../b.ts";', "operator/b.ts", true],
    ['import "../b.ts";', "operator/b.ts", false],
    ['const b = await import("../b.ts");', "operator/b.ts", false],
  ])("%j are found", (source, to, isType) => {
    expect(importsOf("operator/kit/a.ts", source)).toEqual([{ from: "operator/kit/a.ts", to, isType }]);
  });

  test("of packages are none of ours", () => {
    expect(importsOf("operator/kit/a.ts", 'import express from "express";')).toEqual([]);
  });
});

describe("a zone", () => {
  const one = (from: string, to: string, isType = false) => forbidden([{ from, to, isType }], ZONES).length > 0;

  test.each([
    ["operator/controllers/repository/reconcile.ts", "operator/controllers/repository/check.ts"],
    ["operator/controllers/environment/steps/source.ts", "operator/controllers/environment/step.ts"],
    ["operator/controllers/environment/steps/source.ts", "operator/repository-access/host-credentials.ts"],
    ["operator/controllers/garbage-collection/orphans.ts", "operator/controllers/environment/deletion/teardown.ts"],
    ["operator/controllers/index.ts", "operator/controllers/canary/controller.ts"],
    ["operator/main.ts", "api/app.ts"],
    ["api/routes.ts", "operator/ports/repositories.ts"],
    ["deploy/local/kind/commands.ts", "e2e/kind.ts"],
    ["test/unit/a.test.ts", "e2e/support/until.ts"],
  ])("lets %s import %s", (from, to) => {
    expect(one(from, to)).toBe(false);
  });

  test.each([
    ["operator/controllers/repository/reconcile.ts", "operator/controllers/environment/step.ts"],
    ["operator/controllers/garbage-collection/orphans.ts", "operator/controllers/environment/step.ts"],
    ["operator/controllers/canary/controller.ts", "operator/controllers/index.ts"],
    ["operator/controllers/canary/controller.ts", "operator/adapters/git/packets.ts"],
    ["operator/controllers/canary/controller.ts", "operator/wiring/operator.ts"],
    ["operator/webhooks/decide.ts", "operator/controllers/canary/reconcile.ts"],
    ["operator/kit/log.ts", "crds/names.ts"],
    ["operator/ports/records.ts", "operator/adapters/git/packets.ts"],
    ["operator/wiring/operator.ts", "api/app.ts"],
    ["api/routes.ts", "operator/webhooks/decide.ts"],
    ["clients/cli/application.ts", "crds/names.ts"],
    ["deploy/local/up.ts", "e2e/kind.ts"],
    ["e2e/story.test.ts", "test/support/until.ts"],
    ["test/unit/a.test.ts", "e2e/alone/story.test.ts"],
  ])("keeps %s from importing %s", (from, to) => {
    expect(one(from, to)).toBe(true);
  });

  test("of the operator knows types of the settings alone", () => {
    const [from, to] = ["operator/webhooks/decide.ts", "config/settings.ts"];
    expect([one(from, to, true), one(from, to)]).toEqual([false, true]);
  });

  test("is needed for each folder", () => {
    expect(one("elsewhere/a.ts", "elsewhere/b.ts")).toBe(true);
  });
});

describe("a circle of folders", () => {
  const imports = (...pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([from, to]) => ({ from, to, isType: true }));

  test("is found however long it is", () => {
    const found = imports(["x/a/1.ts", "x/b/1.ts"], ["x/b/2.ts", "x/c/1.ts"], ["x/c/2.ts", "x/a/2.ts"]);
    expect(circles(found, "x")).toEqual(["x/a, x/b, x/c"]);
  });

  test("is none where imports go in one direction, or come from the folder around", () => {
    const found = imports(["x/a/1.ts", "x/b/1.ts"], ["x/index.ts", "x/a/1.ts"], ["x/b/1.ts", "x/index.ts"]);
    expect(circles(found, "x")).toEqual([]);
  });
});
