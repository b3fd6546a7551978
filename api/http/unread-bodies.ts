import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Part of a body that is still read (and dropped) after an answer, so that the sender gets to read the answer: with a
 * MiB, one in ten fast senders was reset before it had.
 */
const LINGER_BYTES = 8_388_608;

/**
 * Closes a connection whose sender goes on sending a body after the answer. Closing at once would reset it, and the
 * sender would never read the answer; Node's default is to read on for as long as a request may take.
 */
export function dropUnread(request: IncomingMessage, response: ServerResponse): void {
  // Before the answer is out: afterwards Node drops the data, and it can't be counted.
  response.once("prefinish", () => {
    if (request.complete) return;
    let dropped = 0;
    request.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > LINGER_BYTES) request.socket.destroy();
    });
  });
}
