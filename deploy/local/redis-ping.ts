import { once } from "node:events";
import { connect } from "node:net";

/**
 * Whether a Redis on that port of loopback answers PING (https://redis.io/docs/latest/develop/reference/protocol-spec/).
 * Fails when nothing listens there, or nothing comes within a second.
 */
export async function answersPing(port: number): Promise<boolean> {
  const signal = AbortSignal.timeout(1000);
  const connection = connect({ port, host: "127.0.0.1" });
  try {
    connection.write("*1\r\n$4\r\nPING\r\n");
    const [reply] = (await once(connection, "data", { signal })) as [Buffer];
    return reply.toString() === "+PONG\r\n";
  } finally {
    connection.destroy();
  }
}
