import { describe, expect, test } from "@jest/globals";
import { type ApiToken, tokenOf } from "../../../../crds/api-token.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { fieldManagers } from "../../../../operator/audit/out-of-band-changes.ts";
import { apiTokenFixture } from "../../../support/fixtures/api-token-fixture.ts";
import { byUs, deletionTimestamp, environment, first, ofSpec, scene } from "./observed-changes.ts";

describe("a change is recorded by the leader", () => {
  test.each([
    {
      name: "never when the REST interface has recorded it",
      given: [environment({ generation: 2, stamp: "audit-2", ...byUs })],
      expected: [],
    },
    {
      name: "also when one of the REST interface came after it before it was seen",
      given: [environment({ generation: 3, stamp: "audit-2", ...byUs })],
      expected: [["changed", "uid-1", ""]],
    },
    {
      name: "when it still names the record of an earlier one",
      given: [environment({ generation: 2, stamp: "audit-1" })],
      expected: [["changed", "uid-1", "kubectl"]],
    },
    {
      name: "also when its writer takes our name",
      given: [environment({ generation: 2, stamp: "audit-1", ...byUs })],
      expected: [["changed", "uid-1", ""]],
    },
    {
      name: "each time",
      given: [environment({ generation: 2, stamp: "audit-1" }), environment({ generation: 3 })],
      expected: [
        ["changed", "uid-1", "kubectl"],
        ["changed", "uid-1", "kubectl"],
      ],
    },
    {
      name: "never when the spec is as it was",
      given: [environment({ stamp: "audit-1", labels: { team: "shop" } }), environment({}, 1)],
      expected: [],
    },
    {
      name: "as a deletion when its end begins, and then no more",
      given: [environment({ generation: 2, deletionTimestamp }), environment({ generation: 2, deletionTimestamp })],
      expected: [["deleted", "uid-1", ""]],
    },
    {
      name: "as an end and a beginning when another one has its name",
      given: [environment({ uid: "uid-2" })],
      expected: [
        ["deleted", "uid-1", ""],
        ["created", "uid-2", "kubectl"],
      ],
    },
  ])("$name", ({ given, expected }) => {
    const { environments, begin, seen } = scene();
    environments.upsert(first());
    begin();
    for (const next of given) environments.upsert(next);
    expect(seen()).toEqual(expected);
  });

  test("as a deletion when it is gone at once, but not when this process asked for it", async () => {
    const { environments, deletions, begin, seen } = scene();
    const [gone, removed] = [first(), environment({ name: "other", uid: "uid-2" }, 1)];
    for (const one of [gone, removed]) environments.upsert(one);
    begin();
    await deletions.during("uid-2", async () => environments.remove(removed));
    environments.remove(gone);
    expect(seen()).toEqual([["deleted", "uid-1", ""]]);
  });

  test("as a deletion when this process's own request was refused, and another writer did it", async () => {
    const { environments, deletions, begin, seen } = scene();
    const one = first();
    environments.upsert(one);
    begin();
    await expect(deletions.during("uid-1", async () => Promise.reject(new Error("refused")))).rejects.toThrow(
      "refused",
    );
    environments.remove(one);
    expect(seen()).toEqual([["deleted", "uid-1", ""]]);
  });

  test("of an API token only as a deletion, and not when this process asked for it", async () => {
    const { apiTokens, deletions, begin, seen } = scene();
    const [gone, removed] = ["uid-1", "uid-2"].map((uid, n) => {
      const token = apiTokenFixture({}, tokenOf(new Uint8Array(32).fill(n)));
      return { ...token, metadata: { ...token.metadata, uid } };
    }) as [ApiToken, ApiToken];
    begin();
    for (const one of [gone, removed]) apiTokens.upsert(one);
    const used = { ...gone, metadata: { ...gone.metadata, resourceVersion: "9999" } };
    apiTokens.upsert(used);
    await deletions.during("uid-2", async () => apiTokens.remove(removed));
    apiTokens.remove(used);
    expect(seen()).toEqual([["deleted", "uid-1", ""]]);
  });

  test("only until the term ends", () => {
    const { environments, begin, seen } = scene();
    begin()();
    environments.upsert(environment());
    expect(seen()).toEqual([]);
  });
});

describe("who wrote a spec last", () => {
  const entries = {
    status: { manager: "other", time: "2026-06-02T00:00:00Z", subresource: "status", fieldsV1: { "f:spec": {} } },
    metadata: { manager: "labeller", time: "2026-06-02T00:00:00Z", fieldsV1: { "f:metadata": {} } },
  };
  test.each([
    { name: "no proxy is known", given: undefined, expected: [] },
    {
      name: "we did",
      given: [ofSpec("kubectl", "2026-05-01T00:00:00Z"), ofSpec("ephemeral-environments")],
      expected: [],
    },
    {
      name: "a user did after us",
      given: [ofSpec("ephemeral-environments", "2026-05-01T00:00:00Z"), ofSpec("argocd")],
      expected: ["argocd"],
    },
    {
      name: "two did in the same second",
      given: [ofSpec("argocd"), ofSpec("kubectl")],
      expected: ["argocd", "kubectl"],
    },
    {
      name: "a status or labels count for nothing",
      given: [ofSpec("argocd"), entries.status, entries.metadata],
      expected: ["argocd"],
    },
  ])("$name", ({ given, expected }) => {
    const writers = fieldManagers();
    const kept = writers.noting<EphemeralEnvironment>((object) => ({ ...object }))(
      environment({ managedFields: given as never }),
    );
    expect(writers.of(kept)).toEqual(expected);
  });
});
