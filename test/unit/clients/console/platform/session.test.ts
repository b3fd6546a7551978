import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { isSignedOut, sendWithSession, signInAddress } from "../../../../../clients/console/platform/session.ts";

function server(answers: Readonly<Record<string, () => Response>>) {
  const requested: { readonly path: string; readonly body: string }[] = [];
  globalThis.fetch = async (input, init) => {
    const request = input instanceof Request ? input : new Request(new URL(String(input), "https://console"), init);
    const path = new URL(request.url).pathname;
    requested.push({ path, body: await request.text() });
    return answers[path]?.() ?? new Response(null, { status: 404 });
  };
  return requested;
}

const CALL = "/console/api/v2/environments";
const REFRESH = "/console/auth/refresh";
const create = () => new Request(`https://console${CALL}`, { method: "POST", body: '{"environment_name":"shop"}' });

describe("a request of the page", () => {
  const { fetch } = globalThis;
  beforeEach(() => {
    isSignedOut.value = false;
  });
  afterEach(() => {
    globalThis.fetch = fetch;
  });

  test("whose session has run out is sent once more, whole, after the session was renewed", async () => {
    let isOld = true;
    const requested = server({
      [CALL]: () => new Response(null, { status: isOld ? 401 : 200 }),
      [REFRESH]: () => {
        isOld = false;
        return new Response(null, { status: 204 });
      },
    });
    expect((await sendWithSession(create())).status).toBe(200);
    expect(requested.map(({ path }) => path)).toEqual([CALL, REFRESH, CALL]);
    expect(requested[2]?.body).toBe('{"environment_name":"shop"}');
    expect(isSignedOut.value).toBe(false);
  });

  test("renews the session once together with others: a refresh token that is used twice ends it", async () => {
    let isOld = true;
    const requested = server({
      [CALL]: () => new Response(null, { status: isOld ? 401 : 200 }),
      [REFRESH]: () => {
        isOld = false;
        return new Response(null, { status: 204 });
      },
    });
    const answers = await Promise.all([create(), create(), create()].map(sendWithSession));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(requested.filter(({ path }) => path === REFRESH)).toHaveLength(1);
  });

  test("that can't be renewed leads to the sign-in, and is not sent again", async () => {
    const refused = () => new Response(null, { status: 401 });
    const requested = server({ [CALL]: refused, [REFRESH]: refused });
    expect((await sendWithSession(create())).status).toBe(401);
    expect(requested.map(({ path }) => path)).toEqual([CALL, REFRESH]);
    expect(isSignedOut.value).toBe(true);
  });

  test("whose session can't be renewed now is answered with the reason, and goes on when it can be", async () => {
    server({
      [CALL]: () => new Response(null, { status: 401 }),
      [REFRESH]: () => Response.json({ detail: "The identity provider is away" }, { status: 503 }),
    });
    const answers = await Promise.all([create(), create()].map(sendWithSession));
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    for (const answer of answers) expect(await answer.json()).toEqual({ detail: "The identity provider is away" });
    expect(isSignedOut.value).toBe(false);
  });

  test("that is refused for another reason touches no session", async () => {
    const requested = server({ [CALL]: () => new Response(null, { status: 403 }) });
    expect((await sendWithSession(create())).status).toBe(403);
    expect(requested).toHaveLength(1);
    expect(isSignedOut.value).toBe(false);
  });
});

test("who signs in comes back to the page that was asked for", () => {
  const address = signInAddress({ pathname: "/console/environments/shop/logs", search: "?a=b&c" });
  expect(address).toBe("/console/auth/login?back=%2Fconsole%2Fenvironments%2Fshop%2Flogs%3Fa%3Db%26c");
});
