import { Sensitive } from "../../../crds/sensitive.ts";
import { memoryChat, memoryMail } from "../../support/doubles/memory/webhooks/messaging.ts";
import { chatSuite, mailSuite } from "../suites/messaging.suite.ts";

chatSuite("in memory", async () => {
  const chat = memoryChat();
  const texts = () => chat.posted.map(({ text }) => text);
  return { chat, url: new Sensitive("http://127.0.0.1:9/"), texts, be: chat.be, stop: async () => undefined };
});

mailSuite("in memory", async () => {
  const mail = memoryMail();
  return {
    mail,
    be: mail.be,
    arrived: () => mail.sent.map(({ to, subject }) => ({ to, subject })),
    stop: async () => undefined,
  };
});
