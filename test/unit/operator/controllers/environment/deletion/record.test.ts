import { describe, expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { RecordSpec } from "../../../../../../crds/environment/environment-record.schema.ts";
import { recordManifest, TRIGGER_LABEL, triggerKey } from "../../../../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_NAME_LABEL } from "../../../../../../crds/group.ts";
import { KUBERNETES_KEYWORDS } from "../../../../../../crds/schema.ts";
import { BACKING_SERVICES } from "../../../../../../operator/controllers/environment/backing-services/index.ts";
import { environmentRecord, orphanRecord } from "../../../../../../operator/controllers/environment/deletion/record.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  minutesLater,
  UID,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const ajv = new Ajv2020({ strict: true });
(addFormats as unknown as (instance: Ajv2020) => void)(ajv);
ajv.addVocabulary([...KUBERNETES_KEYWORDS]);
ajv.addFormat("int64", true);
const isValid = ajv.compile(RecordSpec);

const deleted = (minutes: number) => ({ deletionTimestamp: minutesLater(minutes).toISOString() });
const trigger = { kind: "pull_request" as const, provider: "repohost", repository: "g/shop", number: 7 };
const owner = { subject: "https://issuer.test#dev", email: "dev@example.test", name: "Dev" };

/** The metadata of Argo CD's environment, and the reason of its deletion by REST. */
function fromGit(cause?: string) {
  const noted = cause === undefined ? {} : { "ephemeral-environments.dev/deletion-cause": cause };
  return { annotations: { "argocd.argoproj.io/tracking-id": "apps:…", ...noted } };
}

const ended = { goneAt: minutesLater(70), services: BACKING_SERVICES };

function recorded(environment: EphemeralEnvironment) {
  const record = environmentRecord(environment, { steps: [], ...ended });
  expect(isValid(record)).toBe(true);
  return record;
}

describe("the record of an environment", () => {
  test("has what is asked for later, and nothing else", () => {
    const environment = environmentFixture({
      metadata: deleted(10),
      spec: { owner, access: { groups: ["shop-team"] }, trigger, configSet: { name: "default" } },
      status: {
        readyAt: minutesLater(2).toISOString(),
        configSet: { name: "default", version: 3, revision: "default-3" },
        teardown: { steps: [], before: { phase: "failed", failure: "ImagePullFailed" } },
      },
    });
    expect(recorded(environment)).toEqual({
      name: "shop",
      uid: UID,
      dueAt: "2026-01-02T00:00:00.000Z",
      reason: "deleted",
      cause: "pruned",
      createdAt: CREATED,
      readyAt: minutesLater(2).toISOString(),
      deletedAt: minutesLater(10).toISOString(),
      goneAt: minutesLater(70).toISOString(),
      teardownSeconds: 3600,
      phase: "failed",
      failure: "ImagePullFailed",
      ttlHours: 24,
      databaseProvisioned: false,
      components: { backend: { repository: "shop-api", branch: "main", commit: commitA } },
      configSet: { name: "default", version: 3 },
      owner,
      groups: ["shop-team"],
      trigger,
    });
  });

  test("says why its end was not reported to the host of its pull request", () => {
    const goneAt = minutesLater(70).toISOString();
    const steps = [{ name: "feedback", state: "gone" as const, message: "the host is away", goneAt }];
    const record = environmentRecord(environmentFixture({ metadata: deleted(0) }), { ...ended, steps });
    expect(isValid(record)).toBe(true);
    expect(record.untold).toBe("the host is away");
  });

  test.each<[string, Parameters<typeof environmentFixture>[0], object]>([
    ["that was never looked at", { metadata: deleted(0) }, { reason: "deleted", phase: "creating" }],
    ["whose time was up", { metadata: deleted(60), spec: { ttlHours: 1 } }, { reason: "expired" }],
    [
      "that went in the second of its grace period's end",
      {
        metadata: deleted(75),
        spec: { ttlHours: 1 },
        status: { expiryNotBefore: new Date(minutesLater(75).getTime() + 400).toISOString() },
      },
      { reason: "expired" },
    ],
    [
      "whose protection had ended, which the operator removed just before",
      {
        metadata: deleted(91),
        spec: { ttlHours: 1 },
        status: { ttlHours: 1, protectedUntil: minutesLater(90).toISOString() },
      },
      { reason: "expired", dueAt: minutesLater(90).toISOString() },
    ],
    [
      "that was deleted right after its protection was taken back",
      {
        metadata: deleted(80),
        spec: { ttlHours: 1 },
        status: { ttlHours: 1, protectedUntil: minutesLater(90).toISOString() },
      },
      { reason: "deleted" },
    ],
    ["whose time was nearly up", { metadata: deleted(59), spec: { ttlHours: 1 } }, { reason: "deleted" }],
    ["that went before our clock says so", { metadata: deleted(90) }, { teardownSeconds: 0 }],
    [
      "without a commit",
      { metadata: deleted(1), spec: { backend: { repository: "shop-api", branch: "main" } } },
      { components: { backend: { repository: "shop-api", branch: "main", commit: "" } } },
    ],
  ])("%s", (_what, given, expected) => {
    expect(recorded(environmentFixture(given))).toMatchObject(expected);
  });

  test.each<[string, Parameters<typeof environmentFixture>[0], string | undefined]>([
    ["a user", { metadata: { ...deleted(10), ...fromGit("deletedByUser") } }, "deletedByUser"],
    ["a clean-up", { metadata: { ...deleted(10), ...fromGit("cleanup") } }, "cleanup"],
    ["its TTL", { metadata: { ...deleted(60), ...fromGit() }, spec: { ttlHours: 1 } }, "expired"],
    ["a user after its TTL", { metadata: { ...deleted(60), ...fromGit("cleanup") }, spec: { ttlHours: 1 } }, "cleanup"],
    ["its tool, or kubectl", { metadata: { ...deleted(10), ...fromGit() } }, "pruned"],
    ["anyone, where nothing brings it back", { metadata: deleted(10) }, undefined],
  ])("says that it was ended by %s", (_by, given, cause) => {
    expect(recorded(environmentFixture(given)).cause).toBe(cause);
  });

  test("has what the manifest in Git was, without what only its environment needs", () => {
    const manifest = { specHash: "a", switches: { ttlHours: 1 }, renew: "1" };
    const status = { manifest: { ...manifest, writtenAt: CREATED, fieldsHash: "b", builtFrom: CREATED } };
    expect(recorded(environmentFixture({ metadata: { ...deleted(10), ...fromGit() }, status })).manifest).toEqual(
      manifest,
    );
  });

  test("says what was left behind", () => {
    const steps = [
      { name: "application", state: "forced" as const, message: "blocked by a finalizer" },
      { name: "project", state: "gone" as const },
    ];
    const record = environmentRecord(environmentFixture({ metadata: deleted(1) }), { steps, ...ended });
    expect(record.forced).toEqual([{ step: "application", left: "blocked by a finalizer" }]);
  });

  test("names the volumes that stay", () => {
    const steps = [
      { name: "volumes", state: "gone" as const, message: "pv-1, pv-2", goneAt: minutesLater(70).toISOString() },
    ];
    const record = environmentRecord(environmentFixture({ metadata: deleted(1) }), { ...ended, steps });
    expect(isValid(record)).toBe(true);
    expect(record).toMatchObject({ keptVolumes: "pv-1, pv-2" });
  });

  test("says what the platform ended by force", () => {
    const goneAt = minutesLater(70).toISOString();
    const steps = [{ name: "application", state: "gone" as const, message: "not deleted within 60 s", goneAt }];
    const removals = [{ kind: "ConfigMap", finalizer: "example.test/hold", names: ["held"], objects: 1 }];
    const record = environmentRecord(environmentFixture({ metadata: deleted(1) }), { ...ended, steps, removals });
    expect(isValid(record)).toBe(true);
    expect(record).toMatchObject({ takenOver: "not deleted within 60 s", removals });
    expect(record.forced).toBeUndefined();
  });

  test("is found by the name and by what triggered it, and named so that there is one", () => {
    const { metadata } = recordManifest(
      recorded(environmentFixture({ metadata: deleted(1), spec: { trigger } })),
      "ephemeral-system",
    );
    const labels = { [ENVIRONMENT_NAME_LABEL]: "shop", [TRIGGER_LABEL]: triggerKey(trigger) };
    expect(metadata).toEqual({ name: UID, namespace: "ephemeral-system", labels });
  });

  test("distinguishes every pull request from every other", () => {
    const others = [{ number: 8 }, { repository: "g/shop2" }, { provider: "pipelinehost" }];
    const keys = [trigger, ...others.map((other) => ({ ...trigger, ...other }))].map(triggerKey);
    expect(new Set(keys).size).toBe(4);
    expect(keys.every((key) => /^[0-9a-f]{40}$/.test(key ?? ""))).toBe(true);
    expect(triggerKey({ kind: "api" })).toBeUndefined();
    expect(triggerKey({ ...trigger, login: "dev", delivery: "d" })).toBe(triggerKey(trigger));
  });
});

test("the record of an orphan says what little is known", () => {
  const orphan = { owner: { name: "shop", uid: UID }, since: minutesLater(0), seenAt: minutesLater(60) };
  const record = orphanRecord(orphan, { steps: [], ...ended });
  expect(isValid(record)).toBe(true);
  expect(record).toMatchObject({
    name: "shop",
    uid: UID,
    reason: "orphaned",
    createdAt: CREATED,
    teardownSeconds: 600,
  });
});

test("the record of a pull request's environment has the state that it was last written for", () => {
  const noted = `2026-01-01T00:05:00.000Z closed ${commitA}`;
  const metadata = { ...deleted(10), annotations: { "ephemeral-environments.dev/pull-request-state": noted } };
  const { appliedState } = recorded(environmentFixture({ metadata, spec: { trigger } }));
  expect(appliedState).toEqual({ at: "2026-01-01T00:05:00.000Z", state: "closed", commit: commitA });
  expect(recorded(environmentFixture({ metadata }))).not.toHaveProperty("appliedState");
});
