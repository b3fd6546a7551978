import { beforeEach, describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import type { ManifestStatus } from "../../../../../crds/environment/manifest.schema.ts";
import { noteManifest } from "../../../../../crds/environment/noted-manifest.ts";
import { phaseOf } from "../../../../../crds/environment/phase.ts";
import { FINALIZER, RECONCILE_ANNOTATION, RENEW_ANNOTATION } from "../../../../../crds/group.ts";
import { isRefused, manifestOf, refuse } from "../../../../../operator/controllers/environment/returned-manifest.ts";
import { type MemoryRecords, memoryRecords } from "../../../../support/doubles/memory/records.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
  UID,
} from "../../../../support/fixtures/environment/environment-fixture.ts";

const tracked = { "argocd.argoproj.io/tracking-id": "apps:…" };
const managedFields = [
  { manager: "argocd-controller", time: "2026-01-01T00:00:00Z", fieldsV1: { "f:spec": { "f:backend": {} } } },
];
const environment = environmentFixture({ metadata: { annotations: tracked, managedFields } });
const sent = noteManifest(environment, undefined) as ManifestStatus;

let records: MemoryRecords;
let clock: TestClock;
let reads: number;
beforeEach(() => {
  records = memoryRecords();
  clock = new TestClock();
  reads = 0;
});

const verdict = (found: EphemeralEnvironment) => {
  const environments = {
    reread: async () => {
      reads += 1;
      return found;
    },
  };
  return manifestOf(found, { records, environments, clock });
};

const record = (more: Partial<RecordSpec>): RecordSpec => ({
  name: "shop",
  uid: UID,
  reason: "deleted",
  createdAt: CREATED,
  teardownSeconds: 1,
  manifest: sent,
  deletedAt: minutesLater(10).toISOString(),
  goneAt: minutesLater(11).toISOString(),
  ...more,
});

const withStatus = (manifest: ManifestStatus, metadata: object = {}): EphemeralEnvironment => ({
  ...environment,
  metadata: { ...environment.metadata, ...metadata },
  status: { observedGeneration: 1, manifest },
});

describe("a manifest from Git at its first reconcile", () => {
  test.each<[string, readonly Partial<RecordSpec>[], string | undefined]>([
    ["is built when there was none before", [], undefined],
    ["is not built after an expiry", [{ cause: "expired" }], "expired"],
    ["is not built after a deletion by a user", [{ cause: "deletedByUser" }], "deletedByUser"],
    ["is built after a clean-up", [{ cause: "cleanup" }], undefined],
    ["is built after Git had no more of it", [{ cause: "pruned" }], undefined],
    ["is built when its spec differs", [{ cause: "expired", manifest: { ...sent, specHash: "0" } }], undefined],
    ["is built when its annotation differs", [{ cause: "expired", manifest: { ...sent, renew: "0" } }], undefined],
    ["is built after another's expiry", [{ cause: "expired", name: "other" }], undefined],
    [
      "follows the newest record",
      [{ cause: "expired" }, { uid: "b", cause: "pruned", deletedAt: minutesLater(20).toISOString() }],
      undefined,
    ],
  ])("%s", async (_case, kept, refusedAfter) => {
    for (const more of kept) await records.keep(record(more));
    expect((await verdict(environment))?.refusedAfter).toBe(refusedAfter);
  });

  test("is built when its building had begun: the finalizer comes after the decision", async () => {
    await records.keep(record({ cause: "expired" }));
    const begun = { ...environment, metadata: { ...environment.metadata, finalizers: [FINALIZER] } };
    expect(await verdict(begun)).toEqual(sent);
  });

  test("asks for nothing where no tool keeps the environment", async () => {
    await records.keep(record({ cause: "expired" }));
    expect(await verdict(environmentFixture({ metadata: { managedFields } }))).toBeUndefined();
    expect(reads).toBe(0);
  });
});

describe("a manifest that was noted", () => {
  const refused: ManifestStatus = { ...sent, refusedAfter: "expired" };

  test("is not read again until the generation changes, and stays refused without its record", async () => {
    expect(await verdict(withStatus(refused))).toEqual(refused);
    expect(reads).toBe(0);
  });

  test("stays refused when another manager has changed the spec", async () => {
    expect(await verdict(withStatus(refused, { generation: 2 }))).toEqual(refused);
    expect(reads).toBe(1);
  });

  test.each<[string, object]>([
    ["another value of the annotation", { annotations: { ...tracked, [RENEW_ANNOTATION]: "1" } }],
    ["no mark of the tool any more", { annotations: {} }],
  ])("is built from now on for %s", async (_what, metadata) => {
    const built = await verdict(withStatus(refused, metadata));
    expect(isRefused(built)).toBe(false);
    expect(built?.builtFrom).toBe(clock.now().toISOString());
  });

  test("is built from now on for another spec", async () => {
    const [entry] = managedFields;
    const rewritten = { generation: 2, managedFields: [{ ...entry, time: "2026-01-02T00:00:00Z" }] };
    const changed = withStatus(refused, rewritten);
    const other = { ...changed, spec: { backend: { ...changed.spec.backend, branch: "other" } } };
    expect(await verdict(other)).toMatchObject({ builtFrom: clock.now().toISOString() });
    // An unchanged spec, written again, is no change.
    expect(isRefused(await verdict(changed))).toBe(true);
  });

  test("keeps from when it is built", async () => {
    const built = { ...sent, builtFrom: minutesLater(30).toISOString() };
    expect(await verdict(withStatus(built, { annotations: { ...tracked, [RENEW_ANNOTATION]: "1" } }))).toEqual({
      ...built,
      renew: "1",
    });
  });
});

describe("an environment that is not built", () => {
  const manifest = { ...sent, refusedAfter: "deletedByUser" } as const;

  test("stands failed, says why and what to do, and answers a requested reconcile; once", async () => {
    const requested = {
      ...environment,
      metadata: { ...environment.metadata, annotations: { [RECONCILE_ANNOTATION]: "t" } },
    };
    const written: EphemeralEnvironment[] = [];
    const statusWriter = {
      writeStatus: async (found: EphemeralEnvironment, status: EphemeralEnvironment["status"]) => {
        written.push({ ...found, ...(status && { status }) });
        return found;
      },
      addFinalizer: () => Promise.reject(new Error("no finalizer is wanted")),
      removeFinalizer: () => Promise.reject(new Error("there is no finalizer")),
    };
    await refuse(requested, manifest, { statusWriter, clock });
    const [stored] = written as [EphemeralEnvironment];
    expect(stored.status).toMatchObject({
      phase: "failed",
      lastHandledReconcileAt: "t",
      observedGeneration: 1,
      manifest,
    });
    expect(phaseOf(stored)).toBe("failed");
    expect(stored.status?.conditions).toEqual([
      expect.objectContaining({
        type: "Ready",
        status: "False",
        reason: "Expired",
        message: expect.stringMatching(/deleted by a user and came back from Git unchanged.*\/renew to another value/),
      }),
    ]);
    await refuse(stored, manifest, { statusWriter, clock });
    expect(written).toHaveLength(1);
  });
});
