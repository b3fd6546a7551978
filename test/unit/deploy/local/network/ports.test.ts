import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { freePorts } from "../../../../../deploy/local/network/free-ports.ts";
import { assertPortsAreFree, clusterPorts } from "../../../../../deploy/local/network/ports.ts";

describe("the ports of the local cluster", () => {
  test("that another program uses are told by number and meaning, and only those", async () => {
    const [free = 0] = await freePorts(1);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const check = assertPortsAreFree({ giteaPort: port, ingressPort: free });
    await expect(check).rejects.toThrow(`Another program uses ${port} (giteaPort) on 127.0.0.1;`);
    other.close();
    await once(other, "close");
  });

  test("can be used after they were looked at", async () => {
    const [port = 0] = await freePorts(1);
    await assertPortsAreFree({ giteaPort: port });
    await assertPortsAreFree({ giteaPort: port });
  });

  test("are all different", () => {
    const ports = Object.values(clusterPorts());
    expect(new Set(ports).size).toBe(ports.length);
    expect(ports.length).toBeGreaterThan(8);
  });

  test("that are free all differ, in one answer and the next", async () => {
    const ports = [...(await freePorts(10)), ...(await freePorts(10))];
    expect(new Set(ports).size).toBe(20);
  });

  test("that are free are none that outgoing connections get, which could take one while its server is restarted", async () => {
    const range = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    const firstOutgoing = Number.parseInt(range, 10);
    const ports = await freePorts(5);
    expect(Math.max(...ports)).toBeLessThan(firstOutgoing);
  });
});
