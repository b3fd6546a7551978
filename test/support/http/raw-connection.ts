import { connect, type Socket } from "node:net";
import { until } from "../fixtures/until.ts";

/** A connection on which a test writes the bytes itself, and what came back. */
export interface RawConnection {
  readonly socket: Socket;
  readonly seen: { text: string; isClosed: boolean };
  /** The status of the first answer; waits for it. */
  status(): Promise<number>;
  /** Waits until the other side has ended it. */
  closed(): Promise<void>;
}

/** Opens one to the host and port of the URL and writes `text`, if any, as Latin-1. */
export function rawConnection(url: string, text = ""): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const seen = { text: "", isClosed: false };
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    seen.text += String(chunk);
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    seen.isClosed = true;
  });
  if (text !== "") socket.write(Buffer.from(text, "latin1"));
  const closed = async () => void (await until(() => seen.isClosed, { what: "the end of the connection" }));
  return {
    socket,
    seen,
    closed,
    async status() {
      const line = /^HTTP\/1\.1 (\d{3})/;
      await until(() => line.test(seen.text) || seen.isClosed, { what: "an answer" });
      return Number(line.exec(seen.text)?.[1]);
    },
  };
}
