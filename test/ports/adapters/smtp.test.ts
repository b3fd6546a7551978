import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../crds/sensitive.ts";
import { certificateAuthority } from "../../../deploy/local/kubernetes/pki.ts";
import { smtpMail } from "../../../operator/adapters/smtp/smtp-mail.ts";
import { MessageRefused, MessagingUnavailable } from "../../../operator/ports/notifications.ts";
import { startMailServer } from "../../support/doubles/mail-server.ts";
import { mailSuite } from "../suites/messaging.suite.ts";

const never = new AbortController().signal;
const server = { host: "127.0.0.1", secure: false, from: "platform@example.test", timeoutMs: 5_000 };
const message = { id: "a1", to: "dev@example.test", subject: "shop is ready", text: "It is.\n" };

mailSuite("by SMTP", async () => {
  const mailServer = await startMailServer();
  return {
    mail: smtpMail({ ...server, port: mailServer.port }),
    be: (mood) => mailServer.answer({ takes: undefined, refuses: 550, fails: 451 }[String(mood)]),
    arrived: () =>
      mailServer.received.map(({ to, source }) => ({
        to: to.join(),
        subject: /^Subject: (.*)\r$/m.exec(source)?.[1] ?? "",
      })),
    stop: () => mailServer.stop(),
  };
});

describe("SMTP", () => {
  test("has a stable id, says that a program wrote it, and keeps the text as it is", async () => {
    const mailServer = await startMailServer();
    const text = `a link: https://platform.test/api/v2/extensions/${"e".repeat(120)}.${"x".repeat(43)}\n`;
    const mail = smtpMail({ ...server, port: mailServer.port });
    await mail.send({ ...message, text }, undefined, never);
    const { source, from } = mailServer.received[0] ?? { source: "", from: "" };
    expect(from).toBe("platform@example.test");
    expect(source).toContain("Message-ID: <a1@example.test>");
    expect(source).toContain("Auto-Submitted: auto-generated");
    // A soft line break of quoted-printable is not part of the text.
    expect(source.replaceAll("=\r\n", "")).toContain(text.trim());
    await mailServer.stop();
  });

  test("takes a recipient for one address, whatever it holds", async () => {
    const mailServer = await startMailServer();
    const mail = smtpMail({ ...server, port: mailServer.port });
    for (const to of ["a@example.test, b@example.test", "a@example.test\r\nBcc: b@example.test"]) {
      await mail.send({ ...message, to }, undefined, never).catch(() => undefined);
    }
    expect(mailServer.received.flatMap(({ to }) => to)).not.toContain("b@example.test");
    await mailServer.stop();
  });

  test("takes a log-in over TLS, with a given authority", async () => {
    const folder = await mkdtemp(join(tmpdir(), "smtp-"));
    const authority = await certificateAuthority(folder);
    const pair = await authority.issue("server", { commonName: "server", alternativeNames: ["IP:127.0.0.1"] });
    const [key, cert, ca] = await Promise.all(
      [pair.key, pair.certificate, authority.certificate].map((file) => readFile(file ?? "", "utf8")),
    );
    const mailServer = await startMailServer({
      secure: true,
      key,
      cert,
      authOptional: false,
      disabledCommands: [],
      onAuth: ({ username, password }, _session, callback) =>
        password === "right" ? callback(null, { user: username }) : callback(new Error("wrong")),
    });
    const options = { ...server, port: mailServer.port, secure: true, user: "platform" };
    const mail = smtpMail({ ...options, ca });
    await mail.send(message, new Sensitive("right"), never);
    expect(mailServer.received).toMatchObject([{ isSecure: true, user: "platform" }]);
    const wrong = await mail.send(message, new Sensitive("wr0ng"), never).catch((error: Error) => error);
    expect(wrong).toBeInstanceOf(MessagingUnavailable);
    expect((wrong as Error).message).not.toContain("wr0ng");
    await expect(smtpMail(options).send(message, new Sensitive("right"), never)).rejects.toThrow(MessagingUnavailable);
    await mailServer.stop();
    await rm(folder, { recursive: true });
  });

  test("without a server may be served later", async () => {
    const gone = await startMailServer();
    await gone.stop();
    const mail = smtpMail({ ...server, port: gone.port });
    await expect(mail.send(message, undefined, never)).rejects.toThrow(MessagingUnavailable);
  });

  test("of which the recipient is refused for good is not asked again", async () => {
    const mailServer = await startMailServer({
      onRcptTo: (_address, _session, callback) => callback(Object.assign(new Error("who?"), { responseCode: 550 })),
    });
    const mail = smtpMail({ ...server, port: mailServer.port });
    await expect(mail.send(message, undefined, never)).rejects.toThrow(MessageRefused);
    await mailServer.stop();
  });
});
