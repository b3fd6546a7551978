import { beforeEach, describe, expect, test } from "@jest/globals";
import { AUDIT_ID_ANNOTATION, TRACEPARENT_ANNOTATION } from "../../../../../../crds/group.ts";
import { decidedWrites } from "../../../../../../operator/adapters/kubernetes/environments/decided-writes.ts";
import { kubernetesEnvironments } from "../../../../../../operator/adapters/kubernetes/environments/environments.ts";
import { ownDeletions } from "../../../../../../operator/kit/client/own-deletions.ts";
import { json } from "../../../../../support/doubles/fake-api-server.ts";
import { cachedEnvironments, environment } from "./cached-environments.ts";

const SPAN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const world = cachedEnvironments();
beforeEach(() => {
  world.answer("POST", json(environment));
  world.answer("PATCH", json(environment));
});

interface Stamps {
  readonly auditId?: string;
  readonly traceparent?: string;
}

const parts = ({ auditId, traceparent }: Stamps) => ({
  ...{ client: world.client, cache: world.cache, clock: world.clock, deletions: ownDeletions() },
  ...{ auditId: () => auditId, traceparent: () => traceparent },
});

/** The annotations of what was written last. */
function written(): unknown {
  const { metadata } = JSON.parse(world.server.seen.at(-1)?.body ?? "{}");
  return metadata.annotations ?? {};
}

describe("an environment that is written names the record and the span of the change", () => {
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
    await environments.setSwitches(environment, { protected: true });
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
