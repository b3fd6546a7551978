import { describe, expect, test } from "@jest/globals";
import Type from "typebox";
import { feature, isWrapped, route } from "../../../api/route.ts";

const params = Type.Object({ id: Type.String() });
const body = Type.Object({ name: Type.String(), reason: Type.Optional(Type.String()) });
const reply = Type.Object({ name: Type.String() });

const plain = {
  endpoint: "GET /api/things/{id}",
  summary: "Get a thing",
  description: "The thing.",
  access: { permission: "environments:read" },
  params,
  reply,
} as const;

const contractOf = (...[tag, routes, defaults]: Parameters<typeof feature>) => {
  const [listed] = feature(tag, routes, defaults);
  if (listed === undefined) throw new Error("no route");
  return listed.contract;
};

describe("a route", () => {
  test("gets its method and path from its endpoint, its id and tag from its feature, and defaults for the rest", () => {
    const getThing = route(plain)(({ params: { id } }) => ({ name: id }));
    expect(contractOf("health", { getThing }, { envelope: "always" })).toEqual({
      method: "get",
      path: "/api/things/{id}",
      operationId: "getThing",
      tag: "health",
      isStream: false,
      summary: "Get a thing",
      description: "The thing.",
      access: { permission: "environments:read" },
      params,
      reply,
      status: 200,
      errors: [],
      links: {},
      rate: "caller",
      envelope: "always",
    });
  });

  test("may state each of them itself", () => {
    const getThing = route({ ...plain, operationId: "other", envelope: "never", status: 201, rate: "none" })(() => ({
      name: "",
    }));
    const contract = contractOf("health", { getThing }, { envelope: "always" });
    expect(contract).toMatchObject({ operationId: "other", envelope: "never", status: 201, rate: "none" });
  });

  test("that changes something is recorded by its first path parameter, a read only where it states its target", () => {
    const handle = () => ({ name: "" });
    const input = { params: { id: "one" }, query: undefined, headers: undefined, body: undefined, caller: undefined };
    const change = contractOf("health", { put: route({ ...plain, endpoint: "PUT /api/things/{id}" })(handle) });
    expect(change.auditTarget?.(input)).toBe("one");
    expect(contractOf("health", { get: route(plain)(handle) }).auditTarget).toBeUndefined();
    const read = route({ ...plain, auditTarget: ({ params: { id } }) => `the ${id}` })(handle);
    expect(contractOf("health", { read }).auditTarget?.(input)).toBe("the one");
  });

  test("of events is never wrapped", () => {
    const follow = route({ ...plain, isStream: true })(() => async function* () {});
    const contract = contractOf("health", { follow }, { envelope: "always" });
    expect([contract.isStream, isWrapped(contract, "v2")]).toEqual([true, false]);
  });
});

// The compiler is the test: each line below a directive must be an error.
test("a contract with a misspelt property, or one that reads fields that its schemas don't have, does not compile", () => {
  const handle = () => ({ name: "" });
  // @ts-expect-error a misspelt optional property
  route({ ...plain, auditTraget: () => "thing" })(handle);
  // @ts-expect-error an unknown error
  route({ ...plain, errors: ["ENV_NOT_FUOND"] })(handle);
  // @ts-expect-error the path has no such parameter
  route({ ...plain, auditTarget: ({ params: { name } }) => String(name) })(handle);
  // @ts-expect-error the body has no such field
  route({ ...plain, body, auditReason: ({ body: { description } }) => description })(handle);
  // @ts-expect-error the reply has no such field
  route({ ...plain, isUnavailable: ({ status }) => status === "down" })(handle);
  // @ts-expect-error the reply has no such field
  route({ ...plain, representation: { type: "text/plain", text: ({ text }) => text } })(handle);
  // @ts-expect-error an endpoint needs a method
  route({ ...plain, endpoint: "/api/things/{id}" })(handle);
  const { access: _, ...withoutAccess } = plain;
  // @ts-expect-error access is mandatory
  route(withoutAccess)(handle);
  // @ts-expect-error not what the reply's schema says
  route(plain)(() => ({ title: "" }));
  expect(route({ ...plain, body, auditReason: ({ body: { reason } }) => reason })(handle)).toBeDefined();
});
