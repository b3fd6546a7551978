import { describe, expect, test } from "@jest/globals";
import { UnsecuredJWT } from "jose";
import { type ConsoleIssuer, IssuerRefused, IssuerUnusable } from "../../../../api/console/issuer.ts";
import { createRefresher } from "../../../../api/console/refresher.ts";
import type { Session } from "../../../../api/console/sessions.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";

const idTokenOf = (sub: string) => new Sensitive(new UnsecuredJWT({}).setSubject(sub).encode());
const session: Session = {
  idToken: idTokenOf("dev"),
  refreshToken: new Sensitive("first"),
  endsAt: new Date("2026-01-02T00:00:00.000Z"),
};

function refresherAt(...answers: readonly (Error | string)[]) {
  const requested: string[] = [];
  const clock = new TestClock();
  const refresh: ConsoleIssuer["refresh"] = async (token) => {
    const answer = answers[requested.push(token.reveal()) - 1];
    if (answer instanceof Error) throw answer;
    return { idToken: idTokenOf(String(answer)), refreshToken: new Sensitive(`after ${token.reveal()}`) };
  };
  return { requests: requested, clock, refresh: createRefresher({ issuer: { refresh } as ConsoleIssuer, clock }) };
}

describe("a refreshed session", () => {
  test("has the new tokens and the former end", async () => {
    const { refresh } = refresherAt("dev");
    const followed = await refresh(session);
    expect(followed?.refreshToken?.reveal()).toBe("after first");
    expect(followed?.endsAt).toBe(session.endsAt);
  });

  test("is none when the issuer's token is suddenly another person's, or it refuses", async () => {
    expect(await refresherAt("eve").refresh(session)).toBeUndefined();
    expect(await refresherAt(new IssuerRefused("invalid_grant")).refresh(session)).toBeUndefined();
    expect(await refresherAt().refresh({ ...session, refreshToken: undefined })).toBeUndefined();
  });

  test("is asked for again after the issuer could not be used, and not after it has answered", async () => {
    const { refresh, requests: requested } = refresherAt(new IssuerUnusable("away"), "dev");
    await expect(refresh(session)).rejects.toThrow(IssuerUnusable);
    await refresh(session);
    await refresh(session);
    expect(requested).toEqual(["first", "first"]);
  });

  test("is remembered for half a minute, each for itself", async () => {
    const { refresh, requests: requested, clock } = refresherAt("dev", "dev", "dev");
    await refresh(session);
    await refresh({ ...session, refreshToken: new Sensitive("other") });
    clock.advance(30_000);
    await refresh(session);
    expect(requested).toEqual(["first", "other"]);
    clock.advance(1);
    await refresh(session);
    expect(requested).toEqual(["first", "other", "first"]);
  });
});
