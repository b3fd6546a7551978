import { describe, expect, test } from "@jest/globals";
import { idempotencyRecord } from "../../../../../api/environments/creation/create-environment.ts";
import type { CreateRequest } from "../../../../../api/environments/creation/schemas.ts";

const dev = { subject: "https://issuer.test#dev" };
const minimal: CreateRequest = { environment_name: "shop", backend_repo: "shop-api", backend_branch: "main" };
const withBackend = (backend: object): CreateRequest => ({
  ...minimal,
  config_overrides: { helm_values: { backend: backend as never } },
});
const reference = (key: string) => ({ secretKeyRef: { name: "shared-stripe", key } });

describe("the mark of a creation", () => {
  test.each<{ name: string; one: CreateRequest; other: CreateRequest; isSame: boolean }>([
    {
      name: "knows a request with its fields in another order",
      one: { ...minimal, ttl: 2 },
      other: { ttl: 2, ...minimal },
      isSame: true,
    },
    { name: "tells one value from another", one: minimal, other: { ...minimal, ttl: 2 }, isSame: false },
    {
      name: "says nothing of the text of a variable",
      one: withBackend({ env: { PIN: "1234" } }),
      other: withBackend({ env: { PIN: "5678" } }),
      isSame: true,
    },
    {
      name: "tells one variable from another",
      one: withBackend({ env: { PIN: "1234" } }),
      other: withBackend({ env: { PUK: "1234" } }),
      isSame: false,
    },
    {
      name: "tells text from a reference",
      one: withBackend({ env: { PIN: "1234" } }),
      other: withBackend({ env: { PIN: reference("1") } }),
      isSame: false,
    },
    {
      name: "tells one reference from another",
      one: withBackend({ env: { PIN: reference("1") } }),
      other: withBackend({ env: { PIN: reference("2") } }),
      isSame: false,
    },
    {
      name: "tells other values of the chart apart",
      one: withBackend({ args: ["a", "b"] }),
      other: withBackend({ args: ["b", "a"] }),
      isSame: false,
    },
  ])("$name", ({ one, other, isSame }) => {
    expect(idempotencyRecord("key", one, dev).request === idempotencyRecord("key", other, dev).request).toBe(isSame);
  });

  test("is another one for another key, and for another caller", () => {
    const keys = [
      idempotencyRecord("key", minimal, dev),
      idempotencyRecord("other", minimal, dev),
      idempotencyRecord("key", minimal, { subject: "col" }),
    ];
    expect(new Set(keys.map(({ key }) => key)).size).toBe(3);
  });

  test("fits an annotation, and is read from it again", () => {
    const { key, request } = idempotencyRecord("x".repeat(128), minimal, dev);
    for (const part of [key, request]) expect(part).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
