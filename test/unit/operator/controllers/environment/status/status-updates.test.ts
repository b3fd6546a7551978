import { describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../../../../crds/conditions.ts";
import { done, failed, waiting, withFindings } from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  commitA,
  environmentFixture,
  minutesLater,
  pipelineFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import {
  allDone,
  but,
  commitB,
  found,
  hashOf,
  judged,
  ready,
  readyOf,
  serving,
  soon,
  sourceOf,
  updated,
  updating,
} from "./judged-status.ts";

describe("an environment that was ready", () => {
  const was = environmentFixture({ status: ready });

  test.each([
    ["while a pod restarts", "ApplicationSynced", waiting("Progressing", "pods are starting", soon), "ready"],
    ["while a URL is silent", "UrlsReady", waiting("UrlDown", "silent", soon), "ready"],
    ["while a dependency is away", "SecretsReady", waiting("SecretManagerUnavailable", "away", soon), "ready"],
    ["when a URL was down for too long", "UrlsReady", failed("UrlDown", "down"), "failed"],
    ["when its name is taken", "NamespaceReady", failed("NameTaken", "no"), "failed"],
  ] as const)("%s: %s", (_what, type, result, phase) => {
    expect(judged(was, but(type, result), 600).phase).toBe(phase);
  });

  test("is ready in another way when only its TTL, owner or access changed", () => {
    const spec = { ttlHours: 48, access: { groups: ["team"] } };
    const changed = environmentFixture({ spec, status: ready, metadata: { generation: 2 } });
    expect(judged(changed, serving, 600)).toMatchObject({ phase: "ready", observedGeneration: 2, ttlHours: 48 });
  });
});

describe("an update", () => {
  test("shows at once, also while what it needs is away", () => {
    const spec = { overrides: { backend: { replicas: 2 } } };
    const changed = environmentFixture({ spec, status: ready, metadata: { generation: 2 } });
    const away = new Map([["SecretsReady", waiting("SecretManagerUnavailable", "away", soon)]] as const);
    expect(judged(changed, away, 600)).toMatchObject({ phase: "updating", observedGeneration: 2 });
  });

  test("is not over when it was taken back before what it brought is gone", () => {
    const ranB = { ...found(commitA, { running: commitB }), servingHash: hashOf(commitA) };
    const back = environmentFixture({ status: { ...ready, ...found(commitB, { running: commitB }) } });
    expect(judged(back, but("ApplicationSynced", withFindings(waiting("Syncing", "", soon), ranB))).phase).toBe(
      "updating",
    );
  });
});

describe("a commit that is being built", () => {
  const pipeline = pipelineFixture({ commit: commitB, at: minutesLater(600).toISOString() });
  const specified = { ...updated, spec: { backend: { ...updated.spec.backend, pipelines: [pipeline] } } };
  const { sources, ...running } = found(commitA, { running: commitA });
  const held = { sources: { backend: { ...sources.backend, resolved: sourceOf(commitB) } } };
  const building = new Map(allDone)
    .set("SourceResolved", withFindings(waiting("Building", "pipeline 7 builds", soon), { ...held, ...running }))
    .set("UrlsReady", done("Answering"));

  test("makes the environment building, for as long as it may", () => {
    const begun = judged(environmentFixture(specified), building, 600);
    expect(begun.phase).toBe("building");
    expect(readyOf(begun)).toMatchObject({ status: "Unknown", reason: "Building" });
    expect(judged(environmentFixture({ ...specified, status: begun }), building, 719).phase).toBe("building");
  });

  test("is deployed when its pipeline fell silent, which is said", () => {
    const begun = judged(environmentFixture(specified), building, 600);
    const gone = judged(environmentFixture({ ...specified, status: begun }), updating, 721);
    expect(gone.phase).toBe("updating");
    expect(findCondition(gone.conditions, "PipelineSilent")?.message).toContain("pipeline 7 of g/shop");
    const over = {
      spec: { backend: { ...specified.spec.backend, pipelines: [{ ...pipeline, status: "success" as const }] } },
    };
    const later = judged(environmentFixture({ ...specified, ...over, status: gone }), updating, 722);
    expect(findCondition(later.conditions, "PipelineSilent")).toBeUndefined();
  });

  test("fails the environment when it could not be built", () => {
    const pipelineFailed = withFindings(failed("PipelineFailed", "pipeline 7"), { ...held, ...running });
    const broken = new Map(building).set("SourceResolved", pipelineFailed);
    const status = judged(environmentFixture(specified), broken, 600);
    expect(status.phase).toBe("failed");
    expect(readyOf(status)).toMatchObject({ status: "False", reason: "PipelineFailed" });
  });
});
