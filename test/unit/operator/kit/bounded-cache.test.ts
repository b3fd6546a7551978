import { expect, test } from "@jest/globals";
import { BoundedCache } from "../../../../operator/kit/bounded-cache.ts";

test("a full cache begins anew with the next key; a known key is only replaced", () => {
  const cache = new BoundedCache<number>({ ttlSeconds: 60, mostKept: 2 });
  const found = () => ["one", "two", "three"].map((key) => cache.get(key));
  cache.set("one", 1);
  cache.set("two", 2);
  cache.set("two", 22);
  expect(found()).toEqual([1, 22, undefined]);
  cache.set("three", 3);
  expect(found()).toEqual([undefined, undefined, 3]);
  cache.delete("three");
  expect(found()).toEqual([undefined, undefined, undefined]);
});
