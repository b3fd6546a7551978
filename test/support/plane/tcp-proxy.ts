import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { KubeConfigSource } from "../../../operator/kit/client/credentials.ts";

/** A network between a client and the API server that a test can break. */
export interface TcpProxy {
  /** The given kubeconfig, whose server is reached through here. */
  readonly kubeConfig: KubeConfigSource;
  /** Resets every connection; new ones are taken. */
  cut(): void;
  /** Every connection that is open now is half open from here on: nothing passes, and nobody is told. New ones work. */
  stall(): void;
  /** Until `reopen`, new connections are refused, and those that are open are reset. */
  close(): void;
  reopen(): void;
  stop(): Promise<void>;
}

/** Stands before the server of the kubeconfig, on a free port of 127.0.0.1, the address of its certificate. */
export async function startTcpProxy(behind: KubeConfigSource): Promise<TcpProxy> {
  const cluster = behind.getCurrentCluster();
  if (cluster === null) throw new TypeError("the kubeconfig has no current cluster");
  const target = new URL(cluster.server);
  const pairs = new Set<readonly [Socket, Socket]>();
  let isClosed = false;
  const server = createServer((near) => {
    if (isClosed) return void near.resetAndDestroy();
    const far = connect(Number(target.port), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far).pipe(near);
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.once("close", () => {
        pairs.delete(pair);
        for (const either of pair) either.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  return {
    kubeConfig: { ...behind, getCurrentCluster: () => ({ ...cluster, server: url }) },
    cut,
    stall() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    close() {
      isClosed = true;
      cut();
    },
    reopen() {
      isClosed = false;
    },
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
