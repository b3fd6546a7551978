import { expect, test } from "@jest/globals";
import { NOTHING_REQUESTED, type Usage } from "../../../../../../crds/usage/usage.ts";
import { withUsage } from "../../../../../../operator/controllers/environment/status/usage.ts";
import type { ObservedObject } from "../../../../../../operator/ports/cluster.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";

const hard = { "requests.cpu": "4", "requests.memory": "8Gi", "requests.storage": "20Gi" };
const used = { "requests.cpu": "500m", "requests.memory": "1Gi", "requests.storage": "0" };
const counted = { cpuMillicores: 500, memoryMebibytes: 1_024, storageMebibytes: 0 };
const known: Usage = [{ since: "2026-01-01T00:00:00.000Z", ...counted }];
const now = new Date("2026-01-01T01:00:00.000Z");
const noted = (...all: (typeof counted)[]) => all.map((requested) => ({ since: now.toISOString(), ...requested }));
type Fields = Readonly<Record<string, unknown>>;

test.each<[string, Usage | undefined, { namespace: boolean; quota?: Fields }, Usage | undefined]>([
  [
    "what the quota counts",
    undefined,
    { namespace: true, quota: { spec: { hard }, status: { used } } },
    noted(counted),
  ],
  ["what it was, without news", known, { namespace: true, quota: { spec: { hard }, status: { used } } }, known],
  ["nothing before there is a namespace", undefined, { namespace: false }, noted(NOTHING_REQUESTED)],
  ["nothing when its namespace is gone", known, { namespace: false }, [...known, ...noted(NOTHING_REQUESTED)]],
  [
    "nothing while a new quota admits nothing",
    undefined,
    { namespace: true, quota: { spec: { hard } } },
    noted(NOTHING_REQUESTED),
  ],
  ["what it was while the quota is made anew", known, { namespace: true }, known],
  ["what it was while that has not counted", known, { namespace: true, quota: { spec: { hard } } }, known],
  [
    "unknown where the quota does not count everything",
    undefined,
    { namespace: true, quota: { spec: { hard: { ...hard, "requests.storage": undefined } }, status: { used } } },
    undefined,
  ],
])("usage is %s", (_what, usage, { namespace, quota }, expected) => {
  const environment = environmentFixture();
  const cluster = {
    observe: (_owner: unknown, { kind }: { kind: string }) =>
      ((kind === "Namespace" ? namespace && {} : quota) as ObservedObject | undefined) || undefined,
  };
  const status = usage === undefined ? {} : { usage };
  expect(withUsage(status, environment, { cluster, now }).usage).toEqual(expected);
});
