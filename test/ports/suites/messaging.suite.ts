import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Sensitive } from "../../../crds/sensitive.ts";
import {
  type Chat,
  type Mail,
  type MailMessage,
  MessageRefused,
  MessagingUnavailable,
} from "../../../operator/ports/notifications.ts";
import type { Mood } from "../../support/doubles/memory/webhooks/messaging.ts";

interface OtherSide {
  be(mood: Mood): void;
  stop(): Promise<void>;
}

export interface ChatScene extends OtherSide {
  readonly chat: Chat;
  readonly url: Sensitive;
  texts(): readonly string[];
}

export interface MailScene extends OtherSide {
  readonly mail: Mail;
  /** The subjects that arrived, with their recipients. */
  arrived(): readonly { readonly to: string; readonly subject: string }[];
}

const never = new AbortController().signal;

export function chatSuite(title: string, start: () => Promise<ChatScene>): void {
  describe(`a chat, ${title}`, () => {
    let scene: ChatScene;
    beforeAll(async () => {
      scene = await start();
    });
    beforeEach(() => scene.be("takes"));
    afterAll(() => scene.stop());
    const post = (text: string, signal = never) => scene.chat.post(scene.url, text, signal);

    test("gets the text as it is", async () => {
      await post("*shop* is ready: über & <https://x.test|x>");
      expect(scene.texts().at(-1)).toBe("*shop* is ready: über & <https://x.test|x>");
    });

    test("that refuses is not asked again", async () => {
      scene.be("refuses");
      await expect(post("no")).rejects.toThrow(MessageRefused);
    });

    test("that fails may take it later", async () => {
      scene.be("fails");
      await expect(post("later")).rejects.toThrow(MessagingUnavailable);
    });

    test("says how long it wants to be left alone", async () => {
      scene.be({ retryAfterSeconds: 7 });
      await expect(post("later")).rejects.toMatchObject({ name: "MessagingUnavailable", retryAfterMs: 7000 });
    });

    test("gets nothing once the caller has ended", async () => {
      const before = scene.texts().length;
      await expect(post("too late", AbortSignal.abort())).rejects.toThrow();
      expect(scene.texts()).toHaveLength(before);
    });
  });
}

export function mailSuite(title: string, start: () => Promise<MailScene>): void {
  describe(`a mail server, ${title}`, () => {
    let scene: MailScene;
    beforeAll(async () => {
      scene = await start();
    });
    beforeEach(() => scene.be("takes"));
    afterAll(() => scene.stop());
    const message: MailMessage = { id: "a1", to: "dev@example.test", subject: "shop is ready", text: "It is.\n" };

    test("gets the message for its one recipient", async () => {
      await scene.mail.send(message, undefined, never);
      expect(scene.arrived().at(-1)).toEqual({ to: "dev@example.test", subject: "shop is ready" });
    });

    test("that refuses is not asked again", async () => {
      scene.be("refuses");
      await expect(scene.mail.send(message, undefined, never)).rejects.toThrow(MessageRefused);
    });

    test("that fails may take it later", async () => {
      scene.be("fails");
      await expect(scene.mail.send(message, undefined, never)).rejects.toThrow(MessagingUnavailable);
    });

    test("gets nothing once the caller has ended", async () => {
      const before = scene.arrived().length;
      await expect(scene.mail.send(message, undefined, AbortSignal.abort())).rejects.toThrow();
      expect(scene.arrived()).toHaveLength(before);
    });
  });
}
