import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type IdentityProvider, IdentityProviderUnavailable } from "../../../operator/ports/api/identity-provider.ts";

/** A provider with the account `dev@example.test` and no account `nobody@example.test`. */
export interface IdentityProviderScene {
  readonly provider: IdentityProvider;
  sentTo(email: string): number;
  /** Makes the provider unreachable. */
  goAway(): Promise<void>;
  stop(): Promise<void>;
}

export function identityProviderSuite(title: string, start: () => Promise<IdentityProviderScene>): void {
  describe(`the identity provider, ${title}`, () => {
    let scene: IdentityProviderScene;
    beforeAll(async () => {
      scene = await start();
    });
    afterAll(() => scene.stop());
    const send = (email: string, signal = new AbortController().signal) =>
      scene.provider.sendPasswordReset(email, signal);

    test("sends a link to an address with an account, and to none without one, and answers both alike", async () => {
      expect(await send("dev@example.test")).toBeUndefined();
      expect(await send("nobody@example.test")).toBeUndefined();
      expect([scene.sentTo("dev@example.test"), scene.sentTo("nobody@example.test")]).toEqual([1, 0]);
    });

    test("does not care for letter case", async () => {
      const before = scene.sentTo("dev@example.test");
      await send("Dev@Example.test");
      expect(scene.sentTo("dev@example.test")).toBe(before + 1);
    });

    test("does nothing for a caller that no longer waits", async () => {
      const before = scene.sentTo("dev@example.test");
      const error = await send("dev@example.test", AbortSignal.abort()).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IdentityProviderUnavailable);
      expect(error).toMatchObject({ mayAskAgain: false });
      expect(scene.sentTo("dev@example.test")).toBe(before);
    });

    test("says so when it can't be reached, and that it may be asked again, without the address", async () => {
      await scene.goAway();
      const error = await send("dev@example.test").catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IdentityProviderUnavailable);
      expect(error).toMatchObject({ mayAskAgain: true });
      expect(String(error)).not.toContain("dev@");
    });
  });
}
