import type { ServerResponse } from "node:http";
import { afterAll, beforeAll } from "@jest/globals";
import { httpsUrlProber } from "../../operator/adapters/http/url-prober.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import type { UrlProber } from "../../operator/ports/url-prober.ts";
import { type HttpsServer, startHttpsServer } from "../support/http/https-server.ts";

export const URL_OF_SHOP = "https://shop.env.localhost:18443";

function drip(reply: ServerResponse): void {
  const timer = setInterval(() => reply.write(Buffer.alloc(1)), 50);
  reply.on("close", () => clearInterval(timer));
}

/** Repeats an interim response. */
function promises({ socket }: ServerResponse, status: string): void {
  const timer = setInterval(() => socket?.write(`HTTP/1.1 ${status} Soon\r\n\r\n`), 5);
  socket?.on("close", () => clearInterval(timer));
}

/** An ingress with an answer for each host name, and a prober of it. */
export function probedIngress() {
  const seen: { host: string | undefined; path: string | undefined }[] = [];
  let ingress: HttpsServer;
  let prober: UrlProber;
  let open = 0;
  let mostOpen = 0;
  let heldUp: (() => void)[] = [];
  let endlessBytes = 0;
  let endlessIsOver = false;

  /** The server's behaviour at each path; it never answers at any other. */
  const behaviours: Readonly<Record<string, (reply: ServerResponse, detail: string) => void>> = {
    status: (reply, status) => reply.writeHead(Number(status)).end("page"),
    redirect: (reply) => reply.writeHead(302, { location: `https://${ingress.address}/status/500` }).end(),
    hold: (reply) => holdUp(() => reply.end("ok")),
    headers: (reply) => reply.writeHead(200, { "x-long": "x".repeat(100_000) }).end(),
    bytes: (reply, hex) => reply.socket?.end(Buffer.from(hex, "hex")),
    promise: (reply) => reply.writeContinue(),
    promises,
    drip,
    endless,
  };

  beforeAll(async () => {
    ingress = await startHttpsServer(["DNS:*.env.localhost", "DNS:localhost", "IP:127.0.0.1"], (request, reply) => {
      const { url = "/", headers } = request;
      seen.push({ host: headers.host, path: url });
      const [, what = "", detail = ""] = url.split("/");
      behaviours[what]?.(reply, detail);
    });
    prober = httpsUrlProber({ ingressAddress: ingress.address, ca: ingress.ca }, systemClock);
  });
  afterAll(() => ingress.stop());

  function holdUp(answer: () => void): void {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    heldUp.push(() => {
      open -= 1;
      answer();
    });
  }

  function endless(reply: ServerResponse): void {
    const chunk = Buffer.alloc(16 * 1024);
    const pour = () => {
      while (!endlessIsOver && reply.write(chunk)) endlessBytes += chunk.length;
    };
    reply.on("drain", pour);
    reply.on("close", () => {
      endlessIsOver = true;
    });
    pour();
  }

  return {
    seen,
    get ingress() {
      return ingress;
    },
    get prober() {
      return prober;
    },
    get open() {
      return open;
    },
    get mostOpen() {
      return mostOpen;
    },
    get heldUp() {
      return heldUp;
    },
    set heldUp(value) {
      heldUp = value;
    },
    get endlessBytes() {
      return endlessBytes;
    },
    get endlessIsOver() {
      return endlessIsOver;
    },
  };
}
