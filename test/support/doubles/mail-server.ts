import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
  readonly isSecure: boolean;
  readonly user: string | undefined;
}

/** A real SMTP server on loopback that keeps its messages. */
export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Refuses messages with this code from now on; without one it accepts them. */
  answer(code?: number): void;
  stop(): Promise<void>;
}

/** Starts the server; default: without TLS and log-in. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let code: number | undefined;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    ...options,
    onData(stream, session, callback) {
      text(stream).then((source) => {
        if (code !== undefined) return callback(Object.assign(new Error("not now"), { responseCode: code }));
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        received.push({ from, to, source, isSecure: session.secure, user: session.user });
        callback();
      }, callback);
    },
  });
  server.on("error", () => undefined);
  const listening = server.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  return {
    port,
    received,
    answer(next) {
      code = next;
    },
    stop: () => new Promise((stopped) => server.close(stopped)),
  };
}
