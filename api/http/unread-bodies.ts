import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Bytes of a body that are still read (and dropped) after an answer, so that the sender gets to read it: with a MiB,
 * one in ten fast senders was reset before.
 */
const LINGER_BYTES = 8_388_608;

/**
 * Closes a connection whose sender goes on with a body after the answer. An immediate close would reset it before the
 * answer is read; Node's default is to read on for as long as a request may take.
 */
export function dropUnread(request: IncomingMessage, response: ServerResponse): void {
  // Before the answer is out: afterwards Node drops the data uncounted.
  response.once("prefinish", () => {
    if (request.complete) return;
    let dropped = 0;
    request.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > LINGER_BYTES) request.socket.destroy();
    });
  });
}
