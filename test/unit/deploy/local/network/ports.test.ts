import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { assertPortsAreFree, clusterPorts } from "../../../../../deploy/local/network/ports.ts";
import { freePorts } from "../../../../support/fixtures/free-ports.ts";

describe("the ports of the local cluster", () => {
  test("used by another program are named with their numbers and settings", async () => {
    const [free = 0] = await freePorts(1);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const check = assertPortsAreFree({ giteaPort: port, ingressPort: free });
    await expect(check).rejects.toThrow(`Another program uses ${port} (giteaPort) on 127.0.0.1;`);
    other.close();
    await once(other, "close");
  });

  test("stay free after the check", async () => {
    const [port = 0] = await freePorts(1);
    await assertPortsAreFree({ giteaPort: port });
    await assertPortsAreFree({ giteaPort: port });
  });

  test("are all different", () => {
    const ports = Object.values(clusterPorts());
    expect(new Set(ports).size).toBe(ports.length);
    expect(ports.length).toBeGreaterThan(8);
  });

  test("that are free differ within one call and between calls", async () => {
    const ports = [...(await freePorts(10)), ...(await freePorts(10))];
    expect(new Set(ports).size).toBe(20);
  });

  test("that are free lie outside the range of outgoing connections, which could take one while its server restarts", async () => {
    const range = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    const firstOutgoing = Number.parseInt(range, 10);
    const ports = await freePorts(5);
    expect(Math.max(...ports)).toBeLessThan(firstOutgoing);
  });
});
