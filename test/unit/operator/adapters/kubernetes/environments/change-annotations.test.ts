import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  AUDIT_ID_ANNOTATION,
  DELETION_TRACEPARENT_ANNOTATION,
  TRACEPARENT_ANNOTATION,
} from "../../../../../../crds/group.ts";
import { kubernetesEnvironments } from "../../../../../../operator/adapters/kubernetes/environments/environments.ts";
import { decidedWrites } from "../../../../../../operator/adapters/kubernetes/environments/operator-environments.ts";
import { ownDeletions } from "../../../../../../operator/kit/client/own-deletions.ts";
import { json, status } from "../../../../../support/doubles/fake-api-server.ts";
import { cachedEnvironments, environment } from "./cached-environments.ts";

const SPAN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const world = cachedEnvironments();
interface Stamps {
  readonly auditId?: string;
  readonly traceparent?: string;
}

const parts = ({ auditId, traceparent }: Stamps) => ({
  client: world.client,
  cache: world.cache,
  clock: world.clock,
  deletions: ownDeletions(),
  auditId: () => auditId,
  traceparent: () => traceparent,
});

function written(): unknown {
  const { metadata } = JSON.parse(world.server.seen.at(-1)?.body ?? "{}");
  return metadata.annotations ?? {};
}

describe("an environment that is written names the record and the span of the change", () => {
  beforeEach(() => {
    world.answer("POST", json(environment));
    world.answer("PATCH", json(environment));
  });
  const [record, span] = [{ [AUDIT_ID_ANNOTATION]: "one" }, { [TRACEPARENT_ANNOTATION]: SPAN }];
  const untraced = { [TRACEPARENT_ANNOTATION]: null };

  test.each([
    ["traced", { auditId: "one", traceparent: SPAN }, { ...record, ...span }, { ...record, ...span }],
    ["not traced: a patch takes an older span away", { auditId: "one" }, record, { ...record, ...untraced }],
    ["without a record, whose span would be taken for that of an older one", { traceparent: SPAN }, {}, {}],
  ])("%s", async (_how, stamps, made, changed) => {
    const environments = kubernetesEnvironments(parts(stamps));
    await environments.create("shop", environment.spec);
    expect(written()).toEqual(made);
    await environments.update(environment, { protected: true });
    expect(written()).toEqual(changed);
  });

  test("also where a webhook has it written", async () => {
    const traced = decidedWrites(parts({ traceparent: SPAN }));
    await traced.create("shop", environment.spec, "one");
    expect(written()).toEqual({ ...record, ...span });
    await traced.revise(environment, environment.spec, "one", { other: null });
    expect(written()).toEqual({ ...record, ...span, other: null });
    await decidedWrites(parts({})).revise(environment, environment.spec, "one", {});
    expect(written()).toEqual({ ...record, ...untraced });
  });
});

describe("a deletion", () => {
  const seen = () => world.server.seen.map(({ method }) => method);
  beforeEach(() => world.answer("DELETE", json(environment)));

  test("that is traced names its span on the environment first", async () => {
    world.answer("PATCH", json(environment));
    await kubernetesEnvironments(parts({ auditId: "one", traceparent: SPAN })).remove(environment);
    expect(seen()).toEqual(["PATCH", "DELETE"]);
    const { metadata } = JSON.parse(world.server.seen[0]?.body ?? "{}");
    expect(metadata.annotations).toMatchObject({
      [DELETION_TRACEPARENT_ANNOTATION]: SPAN,
      [AUDIT_ID_ANNOTATION]: "one",
    });
  });

  test("that is not traced is one write, and so is one that is going to be refused", async () => {
    await kubernetesEnvironments(parts({ auditId: "one" })).remove(environment);
    const kept = { ...environment, spec: { ...environment.spec, protected: true } };
    await kubernetesEnvironments(parts({ auditId: "one", traceparent: SPAN })).remove(kept);
    expect(seen()).toEqual(["DELETE", "DELETE"]);
  });

  test("that is decided from a version is none of a later one, traced or not", async () => {
    const later = { ...environment, metadata: { ...environment.metadata, resourceVersion: "later" } };
    world.answer("PATCH", status(409, "Conflict"));
    world.answer("GET", json(later));
    const { remove } = kubernetesEnvironments(parts({ auditId: "one", traceparent: SPAN }));
    expect(await remove(environment, { onlyThisVersion: true })).toBe("changed");
    expect(seen()).toEqual(["PATCH", "GET"]);
  });

  const shielded = { ...environment, spec: { ...environment.spec, protectedUntil: "2026-01-01T01:00:00Z" } };
  const lift = () =>
    kubernetesEnvironments(parts({})).remove(shielded, { onlyThisVersion: true, liftsProtection: true });

  test("of an environment whose protection has ended removes that first", async () => {
    world.answer("PATCH", json(environment));
    expect(await lift()).toBe("removing");
    expect(seen()).toEqual(["PATCH", "DELETE"]);
    expect(JSON.parse(world.server.seen[0]?.body ?? "{}")).toMatchObject({
      metadata: { resourceVersion: environment.metadata.resourceVersion },
      spec: { protectedUntil: null },
    });
  });

  test("is not asked for where the protection can't be removed", async () => {
    world.answer("PATCH", status(403, "Forbidden"));
    await expect(lift()).rejects.toThrow("refused the platform");
    expect(seen()).toEqual(["PATCH"]);
  });

  test("does not fail for the sake of a span", async () => {
    world.answer("PATCH", status(403, "Forbidden"));
    await kubernetesEnvironments(parts({ auditId: "one", traceparent: SPAN })).remove(environment);
    expect(seen()).toEqual(["PATCH", "DELETE"]);
  });
});
