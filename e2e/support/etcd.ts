import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { stateFolder } from "./site.ts";

const DEADLINE_MS = 10_000;
const field = (type: string, id: number, rule?: "repeated") => ({ type, id, ...(rule && { rule }) });

/** The used calls of https://github.com/etcd-io/etcd/blob/main/api/etcdserverpb/rpc.proto. */
const PROTOCOL = {
  KeyValue: { fields: { key: field("bytes", 1), mod_revision: field("int64", 3), value: field("bytes", 5) } },
  RangeRequest: { fields: { key: field("bytes", 1) } },
  RangeResponse: { fields: { kvs: field("KeyValue", 2, "repeated") } },
  PutRequest: { fields: { key: field("bytes", 1), value: field("bytes", 2) } },
  // Result EQUAL is 0 and target MOD is 2.
  Compare: { fields: { target: field("int32", 2), key: field("bytes", 3), mod_revision: field("int64", 6) } },
  RequestOp: { fields: { request_put: field("PutRequest", 2) } },
  TxnRequest: { fields: { compare: field("Compare", 1, "repeated"), success: field("RequestOp", 2, "repeated") } },
  TxnResponse: { fields: { succeeded: field("bool", 2) } },
  KV: {
    methods: {
      Range: { requestType: "RangeRequest", responseType: "RangeResponse", comment: "" },
      Txn: { requestType: "TxnRequest", responseType: "TxnResponse", comment: "" },
    },
  },
};

interface Entry {
  readonly value: Buffer;
  readonly mod_revision: string;
}

/**
 * Moves an environment's creation some hours back, in etcd: the API server sets that time itself, and the operator's and the
 * API server's clocks are the machine's.
 */
export async function age(environment: string, hours: number): Promise<void> {
  const key = Buffer.from(`/registry/ephemeral-environments.dev/ephemeralenvironments/${environment}`);
  const etcd = await connect();
  try {
    // Concurrent writes may happen, but not each time.
    for (let round = 0; round < 20; round++) {
      const [found] = (await etcd.range({ key })).kvs;
      if (found === undefined) throw new Error(`etcd has no environment '${environment}'`);
      const compare = [{ target: 2, key, mod_revision: found.mod_revision }];
      const success = [{ request_put: { key, value: aged(found, hours) } }];
      if ((await etcd.txn({ compare, success })).succeeded) return;
    }
  } finally {
    etcd.close();
  }
  throw new Error(`'${environment}' is changing all the time`);
}

function aged({ value }: Entry, hours: number): Buffer {
  const object = JSON.parse(value.toString("utf8")) as { metadata: { creationTimestamp: string } };
  const created = new Date(Date.parse(object.metadata.creationTimestamp) - hours * 3_600_000);
  object.metadata.creationTimestamp = `${created.toISOString().slice(0, 19)}Z`;
  return Buffer.from(JSON.stringify(object));
}

/** The socket in the API server's flags. */
async function connect() {
  const record = await readFile(join(stateFolder, "cluster/processes/kube-apiserver.json"), "utf8");
  const [socket] = /unix:[^"]+/.exec(record) ?? [];
  if (socket === undefined) throw new Error("the API server's record names no socket of etcd");
  const definition = protoLoader.fromJSON(
    { nested: { etcdserverpb: { nested: PROTOCOL } } },
    { keepCase: true, longs: String, defaults: true },
  );
  const { etcdserverpb } = loadPackageDefinition(definition) as unknown as {
    etcdserverpb: { KV: ServiceClientConstructor };
  };
  const client = new etcdserverpb.KV(socket, credentials.createInsecure());
  const deadline = () => ({ deadline: Date.now() + DEADLINE_MS });
  const call = <R>(method: string) => {
    const asking = promisify<object, object, R>(client[method]?.bind(client) as never);
    return (question: object) => asking(question, deadline());
  };
  return {
    range: call<{ kvs: readonly Entry[] }>("Range"),
    txn: call<{ succeeded: boolean }>("Txn"),
    close: () => client.close(),
  };
}
