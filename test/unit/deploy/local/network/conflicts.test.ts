import { describe, expect, test } from "@jest/globals";
import { conflictingRoute, isKubeProxyTable } from "../../../../../deploy/local/network/conflicts.ts";

describe("a route", () => {
  test.each([
    { dst: "10.244.0.0/22", dev: "eph0" },
    { dst: "10.244.1.0/24", gateway: "192.0.2.7", dev: "flannel.1" },
    { dst: "10.244.0.0/16", dev: "cni0" },
    { dst: "10.96.0.10", dev: "ipvs0" },
    { dst: "10.0.0.0/8", dev: "tun0" },
  ])("is in the local cluster's way: $dst, $dev, $gateway", (route) => {
    expect(conflictingRoute([{ dst: "default", gateway: "192.0.2.1", dev: "eth0" }, route])).toEqual(route);
  });

  test.each([
    { dst: "default", gateway: "192.0.2.1", dev: "eth0" },
    { dst: "default", dev: "ppp0" },
    { dst: "10.0.0.0/8", gateway: "192.0.2.1", dev: "eth0" },
    { dst: "10.244.4.0/22", dev: "cni0" },
    { dst: "10.97.0.0/16", dev: "eth1" },
    { dst: "192.0.2.0/24", dev: "eth0" },
  ])("is not: $dst, $dev, $gateway", (route) => {
    expect(conflictingRoute([route])).toBeUndefined();
  });
});

test.each([
  { line: "table ip kube-proxy", expected: true },
  { line: "table ip6 kube-proxy", expected: true },
  { line: "table ip kube-proxy-of-others", expected: false },
  { line: "", expected: false },
])("a table is known as kube-proxy's: '$line'", ({ line, expected }) => {
  expect(isKubeProxyTable(line)).toBe(expected);
});
