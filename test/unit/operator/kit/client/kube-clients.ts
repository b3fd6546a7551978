import { afterEach, beforeEach } from "@jest/globals";
import { createKubeClient, type KubeClientOptions } from "../../../../../operator/kit/client/create-kube-client.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../../support/doubles/fake-api-server.ts";

/** Matches every request. */
export const anything = () => true;
export const ref = { name: "a", namespace: "ns" };
export const draft = { metadata: ref, data: { key: "value" } };

/** The error of a failing call; throws if the call does not fail with a KubeError. */
export async function failureOf(call: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof KubeError) return error;
  throw new Error("the call did not fail with a KubeError", { cause: error });
}

/** Clients of a fake API server, closed after each test. */
export function kubeClients() {
  let server: FakeApiServer;
  let clients: KubeClient[];

  beforeEach(async () => {
    server = await startFakeApiServer();
    clients = [];
  });

  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
  });

  function client(options: Partial<KubeClientOptions> = {}): KubeClient {
    const made = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0, ...options });
    clients.push(made);
    return made;
  }

  return {
    get server() {
      return server;
    },
    set server(value) {
      server = value;
    },
    client,
  };
}
