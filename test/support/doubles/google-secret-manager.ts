import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { SecretManagerServiceClient } from "@google-cloud/secret-manager";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { secretEntryId } from "../../../crds/names.ts";
import { circuitBreaker } from "../../../operator/adapters/google/circuit-breaker.ts";
import { type GoogleClient, googleConnection } from "../../../operator/adapters/google/connection.ts";
import { crc32c } from "../../../operator/adapters/google/secret-calls.ts";
import { googleSecretManager } from "../../../operator/adapters/google/secret-manager.ts";
import { type Clock, systemClock } from "../../../operator/kit/time/clock.ts";
import { type TokenBucket, tokenBucket } from "../../../operator/kit/time/rate-limits.ts";
import type { Owner } from "../../../operator/ports/cluster.ts";
import type { SecretManager } from "../../../operator/ports/secret-manager.ts";
import { type GoogleSecretStore, googleSecretStore, type Secret, type WireRequest } from "./google-secret-store.ts";

/** Wraps a call: throwing before `next` leaves it undone, throwing afterwards loses its answer. It may wait. */
export type GoogleInterceptor = (method: string, request: WireRequest, next: () => unknown) => unknown;

/** Google Secret Manager on loopback, behind Google's own protocol definition and their real client. */
export interface GoogleSecretManagerServer {
  readonly project: string;
  readonly store: GoogleSecretStore;
  entry(id: string): Secret | undefined;
  held(owner: Owner, variable: string): Secret | undefined;
  readonly calls: string[];
  readonly deadlines: number[];
  /** Wraps every call from now on; undefined ends it. */
  intercept(interceptor: GoogleInterceptor | undefined): void;
  connect(): Promise<GoogleClient>;
  stop(): Promise<void>;
}

type Handler = grpc.handleUnaryCall<WireRequest, unknown>;

export async function startGoogleSecretManager(project = "test-project"): Promise<GoogleSecretManagerServer> {
  // Otherwise the client would look for Google's metadata server, and wait for it.
  process.env.METADATA_SERVER_DETECTION = "none";
  const store = googleSecretStore(project);
  const entry = (id: string) => store.secrets.get(`projects/${project}/secrets/${id}`);
  const calls: string[] = [];
  const deadlines: number[] = [];
  let interceptor: GoogleInterceptor | undefined;

  const handler =
    (method: string): Handler =>
    async (call, answer) => {
      const { request } = call;
      calls.push(method);
      deadlines.push(Number(call.getDeadline()) - Date.now());
      const run = store[method as keyof GoogleSecretStore] as ((request: WireRequest) => unknown) | undefined;
      try {
        if (run === undefined) throw Object.assign(new Error(`no ${method} here`), { code: grpc.status.UNIMPLEMENTED });
        const next = () => run(request);
        answer(null, await (interceptor === undefined ? next() : interceptor(method, request, next)));
      } catch (error) {
        answer(error as grpc.ServiceError);
      }
    };

  const service = secretManagerService();
  const server = new grpc.Server();
  server.addService(service, Object.fromEntries(Object.keys(service).map((name) => [name, handler(lowerFirst(name))])));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });

  return {
    project,
    store,
    entry,
    held: (owner, variable) => entry(secretEntryId(owner, variable)),
    calls,
    deadlines,
    intercept(next) {
      interceptor = next;
    },
    connect: async () => {
      const sslCreds = grpc.credentials.createInsecure();
      return new SecretManagerServiceClient({ apiEndpoint: "127.0.0.1", port, sslCreds, projectId: project });
    },
    stop: async () => server.forceShutdown(),
  };
}

function secretManagerService(): grpc.ServiceDefinition {
  const path = createRequire(import.meta.url).resolve("@google-cloud/secret-manager/build/protos/protos.json");
  const definition = protoLoader.fromJSON(JSON.parse(readFileSync(path, "utf8")), {
    keepCase: false,
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  return definition["google.cloud.secretmanager.v1.SecretManagerService"] as grpc.ServiceDefinition;
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

export interface GoogleManagerOptions {
  readonly connect?: () => Promise<GoogleClient>;
  readonly budget?: TokenBucket;
  readonly mayWrite?: () => boolean;
  readonly clock?: Clock;
  readonly installation?: string;
  readonly locations?: readonly string[];
}

/** The adapter for this server, with a budget beyond any test's use; the caller closes it. */
export function googleManager(
  server: GoogleSecretManagerServer,
  { connect = () => server.connect(), installation = "this-cluster", ...options }: GoogleManagerOptions = {},
): SecretManager {
  return googleSecretManager({
    project: server.project,
    connection: googleConnection(connect),
    budget: tokenBucket(systemClock, 100_000),
    breaker: circuitBreaker(systemClock),
    mayWrite: () => true,
    clock: systemClock,
    installation: async () => installation,
    locations: [],
    ...options,
  });
}

/** Creates a foreign secret, with the values as its versions from 1 on. */
export async function shareInGoogle(
  server: GoogleSecretManagerServer,
  { id, labels, values }: { id: string; labels: Record<string, string>; values: readonly string[] },
): Promise<void> {
  const parent = `projects/${server.project}`;
  const client = await server.connect();
  await client.createSecret({ parent, secretId: id, secret: { labels, replication: { automatic: {} } } });
  for (const value of values) {
    const data = Buffer.from(value);
    await client.addSecretVersion({ parent: `${parent}/secrets/${id}`, payload: { data, dataCrc32c: crc32c(data) } });
  }
  await client.close();
}
