import { describe, expect, test } from "@jest/globals";
import { FINALIZER } from "../../../../../crds/group.ts";
import { CREATED, environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { type Given, pass, well } from "./reconciler-pass.ts";

const deletionTimestamp = CREATED;
const finalizers = [FINALIZER];

describe("a Repository", () => {
  test.each<[string, Given, { held?: number; released?: number }]>([
    ["is kept once an environment uses it", { isUsed: true }, { held: 1 }],
    ["is kept once", { isUsed: true, repository: { finalizers } }, { held: 0 }],
    ["that no environment uses is not kept", {}, { held: 0 }],
    [
      "stays while environments use it",
      { isUsed: true, repository: { finalizers, deletionTimestamp } },
      { released: 0 },
    ],
    [
      "stays while an environment that no cache has yet uses it",
      { unheard: [environmentFixture()], repository: { finalizers, deletionTimestamp } },
      { released: 0 },
    ],
    ["goes with the last of them", { repository: { finalizers, deletionTimestamp } }, { released: 1 }],
    ["that others keep is left to them", { repository: { finalizers: ["x/y"], deletionTimestamp } }, { released: 0 }],
  ])("%s", async (_what, given, expected) => {
    expect(await pass({ status: well(), ...given })).toMatchObject(expected);
  });
});
