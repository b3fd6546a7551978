import { describe, expect, jest, test } from "@jest/globals";
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isUnavailable,
} from "../../../../../operator/kit/client/errors.ts";
import type { RequestInterceptor } from "../../../../../operator/kit/client/request.ts";
import { json, reset, silence, status } from "../../../../support/doubles/fake-api-server.ts";
import { configMap, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { anything, draft, failureOf, kubeClients, ref } from "./kube-clients.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = kubeClients();
const { client } = world;

describe("writes", () => {
  test("create posts the complete object strictly, under the field manager", async () => {
    world.server.on(anything, json(configMap("a", "1"), 201));
    await client({ userAgent: "tester/2" }).create(configMaps, draft);
    const [seen] = world.server.seen;
    expect(seen).toMatchObject({ method: "POST", path: "/api/v1/namespaces/ns/configmaps" });
    expect(Object.fromEntries(seen?.query ?? [])).toEqual({ fieldManager: "tester", fieldValidation: "Strict" });
    expect(JSON.parse(seen?.body ?? "")).toEqual({ apiVersion: "v1", kind: "ConfigMap", ...draft });
  });

  test.each([
    { as: "merge", type: "application/merge-patch+json" },
    { as: "json", type: "application/json-patch+json" },
    { as: "apply", type: "application/apply-patch+yaml" },
  ] as const)("patch as $as says so", async ({ as, type }) => {
    world.server.on(anything, json(configMap("a", "2")));
    const patched = await client().patch(configMaps, ref, { data: {} }, { as, subresource: "status" });
    expect(patched.metadata.resourceVersion).toBe("2");
    expect(world.server.seen[0]).toMatchObject({ method: "PATCH", path: "/api/v1/namespaces/ns/configmaps/a/status" });
    expect(world.server.seen[0]?.headers["content-type"]).toBe(type);
    expect(world.server.seen[0]?.query.get("force")).toBe(as === "apply" ? "true" : null);
  });

  test("replace puts the object at its name", async () => {
    world.server.on(anything, json(configMap("a", "2")));
    await client().replace(configMaps, configMap("a", "1"));
    expect(world.server.seen[0]).toMatchObject({ method: "PUT", path: "/api/v1/namespaces/ns/configmaps/a" });
  });

  test("delete carries its preconditions", async () => {
    world.server.on(anything, json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" }));
    const left = await client().delete(configMaps, ref, { uid: "u", resourceVersion: "3" });
    expect(left).toBe("gone");
    expect(JSON.parse(world.server.seen[0]?.body ?? "")).toMatchObject({
      kind: "DeleteOptions",
      preconditions: { uid: "u", resourceVersion: "3" },
    });
  });

  test("deleting what is not there is done already", async () => {
    world.server.on(anything, status(404, "NotFound"));
    expect(await client().delete(configMaps, ref)).toBe("gone");
  });

  test("delete answers the object that its finalizers keep", async () => {
    const kept = configMap("a", "4");
    world.server.on(
      anything,
      json({ ...kept, metadata: { ...kept.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    );
    expect(await client().delete(configMaps, ref)).toMatchObject({ metadata: { resourceVersion: "4" } });
  });

  test.each([
    { name: "503", answer: status(503, "ServiceUnavailable") },
    { name: "429", answer: status(429, "TooManyRequests") },
    { name: "a reset connection", answer: reset },
  ])("are never sent twice, not even after $name", async ({ answer }) => {
    world.server.on(anything, answer);
    expect(isUnavailable(await failureOf(client().create(configMaps, draft)))).toBe(true);
    expect(world.server.seen).toHaveLength(1);
  });

  test.each([
    { code: 409, reason: "AlreadyExists", is: isAlreadyExists, isNot: isConflict },
    { code: 409, reason: "Conflict", is: isConflict, isNot: isAlreadyExists },
    { code: 404, reason: "NotFound", is: isNotFound, isNot: isInvalid },
    { code: 403, reason: "Forbidden", is: isForbidden, isNot: isInvalid },
    { code: 422, reason: "Invalid", is: isInvalid, isNot: isUnavailable },
    { code: 500, reason: "InternalError", is: isUnavailable, isNot: isInvalid },
  ])(
    "$code $reason is a kind of its own, and the server's sentence stays out of the message",
    async ({ code, reason, ...reported }) => {
      world.server.on(anything, status(code, reason));
      const error = await failureOf(client().create(configMaps, draft));
      expect([reported.is(error), reported.isNot(error)]).toEqual([true, false]);
      expect(error.message).not.toContain("!");
      expect(error.detail()).toBe(`${reason}!`);
    },
  );
});

describe("a client whose write guard closes", () => {
  function mandated(onRequest: RequestInterceptor = (_request, next) => next(), connections = 32) {
    const term = new AbortController();
    const state = { holds: true };
    const made = client({ onRequest, connections, guard: { signal: term.signal, holds: () => state.holds } });
    return { made, term, state };
  }

  test("has its calls in flight cut, and begins none", async () => {
    world.server.on(anything, silence);
    const { made, term } = mandated();
    const inFlight = [failureOf(made.create(configMaps, draft)), failureOf(made.find(configMaps, ref))];
    await until(() => world.server.seen.length === 2);
    term.abort();
    const later = [failureOf(made.create(configMaps, draft)), failureOf(made.find(configMaps, ref))];
    const failures = await Promise.all([...inFlight, ...later]);
    expect(failures.map(({ reason }) => reason)).toEqual(Array(4).fill("Aborted"));
    expect(world.server.seen).toHaveLength(2);
  });

  test("sends no write that has waited for a connection until then", async () => {
    const release = Promise.withResolvers<void>();
    world.server.on(anything, async (request, response) => {
      await release.promise;
      json(configMap("a", "1"))(request, response);
    });
    const { made, state } = mandated(undefined, 1);
    const read = made.find(configMaps, ref);
    await until(() => world.server.seen.length === 1);
    const write = failureOf(made.create(configMaps, draft));
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    state.holds = false;
    release.resolve();
    expect(await read).toEqual(configMap("a", "1"));
    expect((await write).reason).toBe("Aborted");
    state.holds = true;
    expect(await made.create(configMaps, draft)).toEqual(configMap("a", "1"));
    expect(world.server.seen.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  test("sends no write that was held up until then; reads still go", async () => {
    world.server.on(anything, json(configMap("a", "1")));
    const release = Promise.withResolvers<void>();
    const { made, state } = mandated((_request, next) => release.promise.then(next));
    const write = failureOf(made.create(configMaps, draft));
    const read = made.find(configMaps, ref);
    state.holds = false;
    release.resolve();
    expect((await write).reason).toBe("Aborted");
    expect(await read).toEqual(configMap("a", "1"));
    expect(world.server.seen.map(({ method }) => method)).toEqual(["GET"]);
  });
});
