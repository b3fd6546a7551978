import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { freePorts } from "../fixtures/free-ports.ts";
import { until } from "../fixtures/until.ts";

/** A registry on this machine with one user. */
export interface TestRegistry {
  /** The address, as in names of artifacts. */
  readonly host: string;
  readonly credentials: { readonly user: string; readonly password: string };
  stop(): Promise<void>;
}

export async function startRegistry(crane: string): Promise<TestRegistry> {
  const [port = 0] = await freePorts(1);
  const registry = spawn(crane, ["registry", "serve", "--address", `127.0.0.1:${port}`], { stdio: "ignore" });
  const credentials = { user: "publisher", password: "open sesame" };
  const expected = `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`;
  const front = createServer((requested, reply) => {
    if (requested.headers.authorization !== expected) {
      reply.writeHead(401, { "www-authenticate": 'Basic realm="registry"' }).end();
      return;
    }
    const { method, url: path, headers } = requested;
    const onward = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    onward.on("error", () => reply.destroy());
    requested.pipe(onward);
  });
  await until(() => answers(port), { what: "the registry", deadlineMs: 10_000 });
  await once(front.listen(0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
  return { host, credentials, stop: () => stop(front, registry) };
}

async function answers(port: number): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${port}/v2/`).catch(() => undefined);
  return reply?.ok === true;
}

async function stop(front: ReturnType<typeof createServer>, registry: ChildProcess): Promise<void> {
  front.closeAllConnections();
  front.close();
  const ended = once(registry, "exit");
  registry.kill();
  await ended;
}
