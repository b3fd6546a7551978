import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { freePorts } from "../../../../deploy/local/free-ports.ts";
import { assertPortsAreFree, clusterPorts } from "../../../../deploy/local/ports.ts";

describe("the ports of the local cluster", () => {
  test("that another program uses are told by number and meaning, and only those", async () => {
    const [free = 0] = await freePorts(1);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const check = assertPortsAreFree({ gitHostPort: port, ingressPort: free });
    await expect(check).rejects.toThrow(`Another program uses ${port} (gitHostPort) on 127.0.0.1;`);
    other.close();
    await once(other, "close");
  });

  test("can be used after they were looked at", async () => {
    const [port = 0] = await freePorts(1);
    await assertPortsAreFree({ gitHostPort: port });
    await assertPortsAreFree({ gitHostPort: port });
  });

  test("are all different", () => {
    const ports = Object.values(clusterPorts());
    expect(new Set(ports).size).toBe(ports.length);
    expect(ports.length).toBeGreaterThan(8);
  });

  test("are asked for together, so that they differ", async () => {
    expect(new Set(await freePorts(20)).size).toBe(20);
  });
});
