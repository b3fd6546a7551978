import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Repository } from "../../../../crds/repository/repository.ts";
import { byUs, deletionTimestamp, environment, leavingEnvironment, scene } from "./observed-changes.ts";

function withoutAuditId({ status, ...rest }: EphemeralEnvironment): EphemeralEnvironment {
  const { observedAuditId: _, ...former } = status ?? {};
  return { ...rest, status: former };
}

describe("a change is recorded by the leader", () => {
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
      name: "also of one that the REST interface wrote after another user",
      given: environment({ generation: 3, stamp: "audit-2", ...byUs }, 1),
      expected: [["changed", "uid-1", ""]],
    },
    {
      name: "as a deletion of one whose end no pass has seen, by any last writer",
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
});
