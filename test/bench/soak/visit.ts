import { request } from "node:https";

const INGRESS_PORT = 18_443;
/** The gate holds a request for a minute at most. */
const SILENCE_MS = 90_000;
/** Statuses of the application, of an ingress without an environment's pods, and of the gate. */
const ANSWERS = [200, 404, 502, 503, 504];

/**
 * Opens an environment's address through the ingress, as a program without a browser does, and answers its status: a sleeping one wakes.
 *
 * @throws Error for silence, and for any other answer
 */
export function visit(name: string): Promise<number> {
  const host = `${name}--api.env.localhost`;
  return new Promise((done, failed) => {
    const call = request(
      {
        host: "127.0.0.1",
        port: INGRESS_PORT,
        servername: host,
        headers: { host: `${host}:${INGRESS_PORT}`, "user-agent": "curl/8.5.0", accept: "*/*" },
        agent: false,
        // The certificate is for the environments' domain, by an authority of this cluster.
        rejectUnauthorized: false,
        timeout: SILENCE_MS,
      },
      (reply) => {
        reply.resume();
        const { statusCode = 0 } = reply;
        if (!ANSWERS.includes(statusCode)) failed(new Error(`it was answered ${statusCode}`));
        reply.once("end", () => done(statusCode)).once("error", failed);
      },
    );
    call.once("timeout", () => call.destroy(new Error("there is no answer"))).once("error", failed);
    call.end();
  });
}
