import { expect, test } from "@jest/globals";
import type { ServiceCall, ServiceCallSeam } from "../../../../operator/ports/observability/metrics.ts";
import { around, observing } from "../../../../operator/wiring/observation/call-spans.ts";

class Manager {
  readonly #values = new Map([["a", "value"]]);
  async read(id: string): Promise<string> {
    const found = this.#values.get(id);
    if (found === undefined) throw new RangeError("it is not there");
    return found;
  }
  /** Not async: it throws at once. */
  close(): Promise<void> {
    throw new TypeError("it is open");
  }
}

test("calls of a port pass through the interceptor, and answer and throw what they would", async () => {
  const calls: ServiceCall[] = [];
  const observed = observing((call, next) => {
    calls.push(call);
    return next();
  })("secret-manager", new Manager());
  expect(await observed.read("a")).toBe("value");
  await expect(observed.read("b")).rejects.toThrow(RangeError);
  await expect(observed.close()).rejects.toThrow(TypeError);
  const service = "secret-manager";
  expect(calls).toEqual(["read", "read", "close"].map((operation) => ({ service, operation })));
});

test("without an interceptor a port is as it is", () => {
  const manager = new Manager();
  expect(observing(undefined)("secret-manager", manager)).toBe(manager);
});

test("of two interceptors the outer one sees what the inner one makes of a call", async () => {
  const order: string[] = [];
  const named =
    (name: string): ServiceCallSeam =>
    async (_call, next) => {
      order.push(name);
      return `${name}(${await next()})`;
    };
  const call: ServiceCall = { service: "mail", operation: "send" };
  const [outer, inner] = [named("outer"), named("inner")];
  expect(await around(outer, inner)?.(call, async () => "sent")).toBe("outer(inner(sent))");
  expect(order).toEqual(["outer", "inner"]);
  expect([around(outer, undefined), around(undefined, inner)]).toEqual([outer, inner]);
  expect(around(undefined, undefined)).toBeUndefined();
});
