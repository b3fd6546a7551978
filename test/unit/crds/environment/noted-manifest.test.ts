import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { noteManifest, sameManifest, withRenewal } from "../../../../crds/environment/noted-manifest.ts";
import { RENEW_ANNOTATION } from "../../../../crds/group.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const backend = { repository: "shop-api", branch: "main" };
const ownsBackend = { "f:backend": { ".": {}, "f:repository": {}, "f:branch": {} } };
const ownsAll = { ...ownsBackend, "f:ttlHours": {} };

function synced(
  spec: Partial<EphemeralEnvironment["spec"]>,
  { owns = ownsAll, time = "2026-01-01T00:00:00Z", renew }: { owns?: object; time?: string; renew?: string } = {},
): EphemeralEnvironment {
  const tracking = { "argocd.argoproj.io/tracking-id": "apps:…" };
  const annotations = { ...tracking, ...(renew === undefined ? {} : { [RENEW_ANNOTATION]: renew }) };
  const managedFields = [{ manager: "argocd-controller", time, fieldsV1: { "f:spec": owns } }];
  const made = environmentFixture({ metadata: { annotations, managedFields } });
  return { ...made, spec: { backend, ...spec } };
}

function noted(environment: EphemeralEnvironment, former?: ReturnType<typeof noteManifest>) {
  const found = noteManifest(environment, former);
  if (found === undefined) throw new Error("nothing is noted");
  return found;
}

const LATER = "2026-01-01T00:05:00Z";

describe("a manifest that is noted", () => {
  const first = noted(synced({ ttlHours: 1 }));

  test("has the switches by value and the rest as a hash", () => {
    expect(first).toEqual({
      specHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      switches: { ttlHours: 1 },
      writtenAt: "2026-01-01T00:00:00Z",
      fieldsHash: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  test("is the same for the same manifest, in whatever order the API server answers it", () => {
    const [repository, branch] = [backend.repository, backend.branch];
    const turned = { "f:ttlHours": {}, "f:backend": { "f:branch": {}, "f:repository": {} } };
    const again = noted(synced({ ttlHours: 1, backend: { branch, repository } }, { owns: turned, time: LATER }));
    expect(sameManifest(first, again)).toBe(true);
  });

  test.each<[string, EphemeralEnvironment]>([
    ["another branch", synced({ ttlHours: 1, backend: { ...backend, branch: "other" } })],
    ["another TTL", synced({ ttlHours: 2 })],
    ["no TTL", synced({}, { owns: ownsBackend })],
    ["another value of the annotation", synced({ ttlHours: 1 }, { renew: "1" })],
  ])("is another one for %s", (_what, environment) => {
    expect(sameManifest(first, noted(environment))).toBe(false);
  });

  test("stays as it was when another manager has taken a field over", () => {
    expect(noted(synced({ ttlHours: 5 }, { owns: ownsBackend }), first)).toEqual(first);
  });

  test("is another one also when the tool has written it in the same second", () => {
    expect(sameManifest(first, noted(synced({ ttlHours: 2 }), first))).toBe(false);
  });

  test("keeps the TTL of Git when the tool writes the rest and leaves an extension alone", () => {
    const changed = synced(
      { ttlHours: 5, backend: { ...backend, branch: "other" } },
      { owns: ownsBackend, time: LATER },
    );
    const second = noted(changed, first);
    expect(second).toMatchObject({ switches: { ttlHours: 1 }, writtenAt: LATER });
    expect(second.specHash).not.toBe(first.specHash);
    const back = noted(synced({ ttlHours: 1, backend: { ...backend, branch: "other" } }));
    expect(sameManifest(second, back)).toBe(true);
  });

  test("forgets a TTL that Git has no more", () => {
    expect(noted(synced({}, { owns: ownsBackend, time: LATER }), first).switches).toEqual({});
  });

  test("follows the annotation without a write of the spec", () => {
    expect(withRenewal(first, synced({ ttlHours: 1 }, { renew: "2" }))).toEqual({ ...first, renew: "2" });
    expect(withRenewal({ ...first, renew: "2" }, synced({ ttlHours: 1 }))).toEqual(first);
    expect(withRenewal(first, synced({}, { renew: "x".repeat(200) })).renew).toHaveLength(128);
  });

  test("is nothing where the tool wrote none of the spec", () => {
    const { metadata, ...rest } = synced({});
    const managedFields = [{ manager: "kubectl-client-side-apply", fieldsV1: { "f:spec": ownsAll } }];
    expect(noteManifest({ ...rest, metadata: { ...metadata, managedFields } }, undefined)).toBeUndefined();
  });
});
