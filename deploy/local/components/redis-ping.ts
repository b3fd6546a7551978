import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** A Redis on loopback. */
export interface LocalRedis {
  readonly port: number;
  readonly password: string;
  /** The PEM file of the authority that signed its certificate; absent: no TLS. */
  readonly caFile?: string;
}

/**
 * True when the Redis accepts the password and answers PING (https://redis.io/docs/latest/develop/reference/protocol-spec/).
 * Fails when nothing listens, the certificate is not trusted, or no reply comes within a second.
 */
export async function answersPing(redis: LocalRedis): Promise<boolean> {
  const signal = AbortSignal.timeout(1000);
  const connection = await open(redis);
  try {
    for (const [words, answer] of [
      [["AUTH", redis.password], "+OK\r\n"],
      [["PING"], "+PONG\r\n"],
    ] as const) {
      connection.write(command(words));
      const [reply] = (await once(connection, "data", { signal })) as [Buffer];
      if (reply.toString() !== answer) return false;
    }
    return true;
  } finally {
    connection.destroy();
  }
}

async function open({ port, caFile }: LocalRedis): Promise<Socket> {
  const address = { port, host: "127.0.0.1" };
  return caFile === undefined ? connect(address) : connectSecurely({ ...address, ca: await readFile(caFile) });
}

function command(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
