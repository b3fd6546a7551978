import { connect, type Socket } from "node:net";
import { until } from "../fixtures/until.ts";

/** A connection with bytes written by the test, and the answer. */
export interface RawConnection {
  readonly socket: Socket;
  readonly seen: { text: string; isClosed: boolean };
  status(): Promise<number>;
  closed(): Promise<void>;
}

/** Connects to the host and port of the URL and writes `text`, if any, as Latin-1. */
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
