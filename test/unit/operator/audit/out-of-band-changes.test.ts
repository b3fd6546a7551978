import { describe, expect, test } from "@jest/globals";
import { type ApiToken, tokenOf } from "../../../../crds/api-token.ts";
import type { ConfigSet } from "../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION } from "../../../../crds/group.ts";
import type { Repository } from "../../../../crds/repository/repository.ts";
import { fieldManagers } from "../../../../operator/audit/field-managers.ts";
import { recordOutOfBandChanges } from "../../../../operator/audit/out-of-band-changes.ts";
import { createObjectCache } from "../../../../operator/kit/cache/indexed-cache.ts";
import type { ObjectMeta } from "../../../../operator/kit/client/objects.ts";
import { ownDeletions } from "../../../../operator/kit/client/own-deletions.ts";
import { memoryAuditTrail } from "../../../support/doubles/memory/audit-trail.ts";
import { apiTokenFixture } from "../../../support/fixtures/api-token-fixture.ts";

const SECOND = "2026-06-01T12:00:00Z";
const deletionTimestamp = "2026-06-01T13:00:00Z";
const ofSpec = (manager: string, time = SECOND) => ({ manager, time, fieldsV1: { "f:spec": {} } });

let version = 1;
/** A version of one environment, written by kubectl unless said otherwise, with the generation that a pass has seen last. */
function environment(
  metadata: Partial<ObjectMeta> & { stamp?: string } = {},
  seen?: number,
  observedAuditId = "audit-1",
) {
  const { stamp, ...more } = metadata;
  version += 1;
  return {
    ...{ apiVersion: "ephemeral-environments.dev/v1", kind: "EphemeralEnvironment" },
    metadata: {
      ...{ name: "shop", uid: "uid-1", creationTimestamp: SECOND, resourceVersion: String(version), generation: 1 },
      ...(stamp === undefined ? {} : { annotations: { [AUDIT_ID_ANNOTATION]: stamp } }),
      ...{ managedFields: [ofSpec("kubectl")] as ObjectMeta["managedFields"] },
      ...more,
    },
    spec: {},
    ...(seen === undefined
      ? {}
      : { status: { observedGeneration: seen, observedAuditId, conditions: [readyOf(seen)] } }),
  } as unknown as EphemeralEnvironment;
}

function withoutAuditId({ status, ...rest }: EphemeralEnvironment): EphemeralEnvironment {
  const { observedAuditId: _, ...former } = status ?? {};
  return { ...rest, status: former };
}

const readyOf = (observedGeneration: number) => ({ type: "Ready", status: "Unknown", observedGeneration });

/** The same after a pass has begun to take it away: its `observedGeneration` stays that of its life. */
function leavingEnvironment(metadata: Partial<ObjectMeta>, seen: number) {
  const { status, ...living } = environment({ deletionTimestamp, ...metadata }, seen - 1);
  return {
    ...living,
    status: { ...status, conditions: [readyOf(seen)], teardown: { steps: [] } },
  } as unknown as EphemeralEnvironment;
}

function scene() {
  const writers = fieldManagers();
  const transform = writers.noting<EphemeralEnvironment>((object) => ({ ...object }));
  const environments = createObjectCache({ transform });
  const apiTokens = createObjectCache<ApiToken>();
  const repositories = createObjectCache({ transform: writers.noting<Repository>((object) => ({ ...object })) });
  const caches = {
    ...{ environments, configSets: createObjectCache<ConfigSet>(), repositories },
    ...{ apiTokens, writersOf: writers.of },
  };
  const audit = memoryAuditTrail();
  const deletions = ownDeletions();
  let id = 0;
  const begin = () => recordOutOfBandChanges({ caches, audit, deletions, newId: () => `id-${++id}` });
  const seen = () =>
    audit.records.map(({ action, actor, objects }) => [
      ...[action, objects[0]?.uid, "fieldManagers" in actor ? actor.fieldManagers.join(",") : undefined],
    ]);
  return { environments, repositories, apiTokens, deletions, begin, seen };
}

const byUs = { managedFields: [ofSpec("ephemeral-environments")] as never };
/** Older than every other version. */
const first = () => environment({ stamp: "audit-1", resourceVersion: "1", ...byUs });

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

  test("as a deletion when what this process asked for was refused, and somebody else did it", async () => {
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

  test.each([
    {
      name: "of one that no pass has seen",
      given: environment({ generation: 2 }, 1),
      expected: [["changed", "uid-1", "kubectl"]],
    },
    { name: "of one that is new", given: environment(), expected: [["created", "uid-1", "kubectl"]] },
    { name: "not of one that was seen", given: environment({ generation: 2 }, 2), expected: [] },
    {
      name: "not of one that the REST interface wrote last",
      given: environment({ generation: 2, stamp: "audit-2", ...byUs }, 1),
      expected: [],
    },
    { name: "not of one that it made", given: environment({ stamp: "audit-1", ...byUs }), expected: [] },
    {
      name: "also of one whose writer took our name",
      given: environment({ generation: 2, stamp: "audit-1", ...byUs }, 1),
      expected: [["changed", "uid-1", ""]],
    },
    {
      name: "also of one of which a former release remembered no record: rather a record too many",
      given: withoutAuditId(environment({ generation: 2, stamp: "audit-2", ...byUs }, 1)),
      expected: [["changed", "uid-1", ""]],
    },
    {
      name: "also of one whose maker took our name",
      given: environment(byUs),
      expected: [["created", "uid-1", ""]],
    },
    {
      name: "also of one that the REST interface wrote after somebody else",
      given: environment({ generation: 3, stamp: "audit-2", ...byUs }, 1),
      expected: [["changed", "uid-1", ""]],
    },
    {
      name: "as a deletion of one whose end no pass has seen, whoever wrote it last",
      given: environment({ generation: 2, deletionTimestamp }, 1),
      expected: [["deleted", "uid-1", ""]],
    },
    {
      name: "as a deletion also of one that the platform made",
      given: environment({ generation: 2, deletionTimestamp, ...byUs }, 1),
      expected: [["deleted", "uid-1", ""]],
    },
    {
      name: "as a change and a deletion of one that was changed before its end",
      given: environment({ generation: 3, deletionTimestamp }, 1),
      expected: [
        ["changed", "uid-1", "kubectl"],
        ["deleted", "uid-1", ""],
      ],
    },
    {
      name: "as a creation and a deletion of one that no pass has seen at all",
      given: environment({ generation: 2, deletionTimestamp }),
      expected: [
        ["created", "uid-1", "kubectl"],
        ["deleted", "uid-1", ""],
      ],
    },
    {
      name: "not of one that a pass has seen on its way out",
      given: leavingEnvironment({ generation: 2 }, 2),
      expected: [],
    },
    {
      name: "of one that was changed on its way out",
      given: leavingEnvironment({ generation: 3 }, 2),
      expected: [["changed", "uid-1", "kubectl"]],
    },
  ])("at the beginning of its term: $name", ({ given, expected }) => {
    const { environments, begin, seen } = scene();
    environments.upsert(given);
    begin();
    expect(seen()).toEqual(expected);
  });

  test("at the beginning of its term: not as a deletion when this process asked for it", async () => {
    const { environments, deletions, begin, seen } = scene();
    await deletions.during("uid-1", async () =>
      environments.upsert(environment({ generation: 2, deletionTimestamp }, 1)),
    );
    begin();
    expect(seen()).toEqual([]);
  });

  test.each([
    { name: "of one that no pass has seen", given: {}, expected: [["changed", "uid-1", "kubectl"]] },
    { name: "also of one whose writer took our name", given: byUs, expected: [["changed", "uid-1", ""]] },
    { name: "not of one that is on its way out", given: { deletionTimestamp }, expected: [] },
  ])("at the beginning of its term, Repositories included: $name", ({ given, expected }) => {
    const { repositories, begin, seen } = scene();
    repositories.upsert({
      ...environment({ generation: 2, ...given }, 1),
      kind: "Repository",
    } as unknown as Repository);
    begin();
    expect(seen()).toEqual(expected);
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
    { name: "nobody is known", given: undefined, expected: [] },
    {
      name: "we did",
      given: [ofSpec("kubectl", "2026-05-01T00:00:00Z"), ofSpec("ephemeral-environments")],
      expected: [],
    },
    {
      name: "somebody did after us",
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
