import { expect, test } from "@jest/globals";
import { trustedProxy } from "../../../../api/http/trusted-proxies.ts";

const inside = ["10.9.0.0/16", "fd00:1::/32"];

test.each([
  { name: "no proxy without a hop", hops: 0, proxies: [], address: "10.9.0.1", hop: 0, expected: false },
  { name: "anybody at the first hop", hops: 1, proxies: [], address: "198.51.100.1", hop: 0, expected: true },
  { name: "no proxy behind the last hop", hops: 1, proxies: [], address: "10.9.0.1", hop: 1, expected: false },
  { name: "a named address", hops: 1, proxies: inside, address: "10.9.0.1", hop: 0, expected: true },
  { name: "it in the IPv6 form", hops: 1, proxies: inside, address: "::ffff:10.9.0.1", hop: 0, expected: true },
  { name: "a named IPv6 address", hops: 1, proxies: inside, address: "fd00:1::5", hop: 0, expected: true },
  { name: "no other address", hops: 1, proxies: inside, address: "10.8.0.1", hop: 0, expected: false },
  { name: "no other in the IPv6 form", hops: 1, proxies: inside, address: "::ffff:10.8.0.1", hop: 0, expected: false },
  { name: "a second proxy by its address", hops: 2, proxies: inside, address: "10.9.0.2", hop: 1, expected: true },
  { name: "a forged second proxy", hops: 2, proxies: inside, address: "203.0.113.1", hop: 1, expected: false },
  { name: "what is no address", hops: 2, proxies: inside, address: "unknown", hop: 1, expected: false },
  { name: "a connection that is gone", hops: 1, proxies: inside, address: undefined, hop: 0, expected: false },
])("believed is $name", ({ hops, proxies, address, hop, expected }) => {
  expect(trustedProxy({ trustedProxyHops: hops, trustedProxies: proxies })(address, hop)).toBe(expected);
});
