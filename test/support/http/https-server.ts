import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateAuthority } from "../../../deploy/local/kubernetes/pki.ts";

/** An HTTPS server on loopback with a certificate of its own authority. */
export interface HttpsServer {
  readonly address: string;
  readonly port: number;
  /** The authority's certificate, in PEM and as a file. */
  readonly ca: string;
  readonly caFile: string;
  stop(): Promise<void>;
}

/** Serves with a certificate for these names (`DNS:*.env.localhost`, `IP:127.0.0.1`) on a free port. */
export async function startHttpsServer(
  alternativeNames: readonly string[],
  answer: RequestListener,
): Promise<HttpsServer> {
  const folder = await mkdtemp(join(tmpdir(), "https-server-"));
  const authority = await certificateAuthority(folder);
  const pair = await authority.issue("server", { commonName: "server", alternativeNames });
  const [key, cert, ca] = await Promise.all(
    [pair.key, pair.certificate, authority.certificate].map((file) => readFile(file, "utf8")),
  );
  const server = createServer({ key, cert } as { key: string; cert: string }, answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    port,
    ca: ca ?? "",
    caFile: authority.certificate,
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
