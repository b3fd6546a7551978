import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { KubeConfig, type User } from "@kubernetes/client-node";
import { createKubeClient, type KubeClientOptions } from "../../../../../operator/kit/client/create-kube-client.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import { type FakeApiServer, json, startFakeApiServer, status } from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { configMap, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { until } from "../../../../support/fixtures/until.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const anything = () => true;
const ref = { name: "a", namespace: "ns" };

let server: FakeApiServer;
/** client-node's own: its reading of files is tested here. */
let kubeConfig: KubeConfig;
let clients: KubeClient[];

beforeEach(async () => {
  server = await startFakeApiServer();
  kubeConfig = new KubeConfig();
  clients = [];
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
});

function client(options: Partial<KubeClientOptions> = {}): KubeClient {
  const made = createKubeClient({ kubeConfig, random: () => 0, ...options });
  clients.push(made);
  return made;
}

async function failureOf(call: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof KubeError) return error;
  throw new Error("the call did not fail with a KubeError", { cause: error });
}

describe("credentials in files", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "kube-client-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  function loadUser(user: User): void {
    // client-node accepts a plain-http server only together with skipTLSVerify.
    kubeConfig.loadFromClusterAndUser({ name: "fake", server: server.url, skipTLSVerify: true }, user);
  }

  async function withToken(clock: TestClock): Promise<{ readonly file: string; readonly client: KubeClient }> {
    const file = join(folder, "token");
    await writeFile(file, "first\n");
    loadUser({ name: "u", authProvider: { name: "tokenFile", config: { tokenFile: file } } });
    return { file, client: client({ clock }) };
  }

  test("a new client certificate gets new connections", async () => {
    const clock = new TestClock();
    const certFile = join(folder, "certificate");
    await writeFile(certFile, "first");
    loadUser({ name: "u", certFile });
    server.on(anything, json(configMap("a", "1")));
    const following = client({ clock, connections: 1 });
    await following.find(configMaps, ref);
    clock.advance(60_000);
    await following.find(configMaps, ref);
    expect(server.connectionsSoFar).toBe(1);
    await writeFile(certFile, "second");
    clock.advance(60_000);
    await following.find(configMaps, ref);
    expect(server.connectionsSoFar).toBe(2);
    await until(() => server.openConnections === 1, { what: "the end of the old connection" });
  });

  test("a file that can't be read in mid-replacement changes nothing", async () => {
    const clock = new TestClock();
    server.on(anything, json(configMap("a", "1")));
    const { file, client: following } = await withToken(clock);
    await following.find(configMaps, ref);
    await rm(file);
    clock.advance(60_000);
    await following.find(configMaps, ref);
    expect(server.seen[1]?.headers.authorization).toBe("Bearer first");
  });

  test("a credential plugin that hangs ends with the call's deadline", async () => {
    const clock = new TestClock();
    loadUser({ name: "hanging" });
    kubeConfig.addAuthenticator({
      isAuthProvider: ({ name }) => name === "hanging",
      applyAuthentication: () => new Promise(() => undefined),
    });
    const error = failureOf(client({ clock, deadlineMs: 1_000 }).find(configMaps, ref));
    clock.advance(1_000);
    expect((await error).reason).toBe("Timeout");
  });

  test("no credentials at all is an error of its own", async () => {
    loadUser({ name: "u", certFile: join(folder, "missing") });
    expect((await failureOf(client({ deadlineMs: 100 }).find(configMaps, ref))).reason).toBe("NoCredentials");
  });

  test("a token is followed within a minute", async () => {
    const clock = new TestClock();
    server.on(anything, json(configMap("a", "1")));
    const { file, client: following } = await withToken(clock);
    await following.find(configMaps, ref);
    await writeFile(file, "second");
    clock.advance(60_000);
    await following.find(configMaps, ref);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
  });

  test("a token is read at once after a 401", async () => {
    const clock = new TestClock();
    server.on(({ headers }) => headers.authorization === "Bearer second", json(configMap("a", "1")));
    const { file, client: following } = await withToken(clock);
    server.on(anything, (request, response) => {
      void writeFile(file, "second").then(() => status(401, "Unauthorized")(request, response));
    });
    const found = following.find(configMaps, ref);
    await until(() => clock.pending.includes(50));
    clock.advance(50);
    expect(await found).toBeDefined();
  });
});
