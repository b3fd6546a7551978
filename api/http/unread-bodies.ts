import type { IncomingMessage, ServerResponse } from "node:http";

/** What is still read (and dropped) after an answer, so that the sender gets to read it. */
const LINGER_BYTES = 1_048_576;

/**
 * Ends a connection whose sender goes on with a body that nobody wants any more. At once would reset it, and the sender
 * would never read why; Node's own way is to read on for as long as a request may take.
 */
export function dropUnread(request: IncomingMessage, response: ServerResponse): void {
  // Before the answer is out: from then on Node drops what comes, and nobody could count it.
  response.once("prefinish", () => {
    if (request.complete) return;
    let dropped = 0;
    request.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > LINGER_BYTES) request.socket.destroy();
    });
  });
}
