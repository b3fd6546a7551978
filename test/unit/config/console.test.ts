import { describe, expect, test } from "@jest/globals";
import { SettingsInvalid, settingsFrom } from "../../../config/settings.ts";
import { least, withIssuer, withIssuers } from "./least-settings.ts";

const console = { publicUrl: "https://console.test", clientId: "a" };
const withConsole = (change: object, issuers: readonly object[] = [{ issuer: "https://i.test" }]) => ({
  ...withIssuers(...issuers),
  console: { ...console, ...change },
});
const TWO = [
  { issuer: "https://i.test", groupsPrefix: "i:" },
  { issuer: "https://j.test", groupsPrefix: "j:", audience: "b" },
];

const WRONG: readonly [string, object, string[]][] = [
  ...["https://env.test", "https://console.env.test", "https://a.b.env.test:8443"].map(
    (publicUrl): [string, object, string[]] => [
      `the console ${publicUrl}, where environments are`,
      withConsole({ publicUrl }),
      ["/console/publicUrl:", "belongs to environments"],
    ],
  ),
  ...[
    "http://console.test",
    "https://console.test/",
    "https://console.test/app",
    "console.test",
    "https://Console.test",
  ].map((publicUrl): [string, object, string[]] => [
    `the console ${publicUrl}`,
    withConsole({ publicUrl }),
    ["/console/publicUrl"],
  ]),
  ["a console without an issuer", { ...least, console }, ["/console: needs an issuer"]],
  ["a console that says none of several issuers", withConsole({}, TWO), ["/console/issuer: is required"]],
  [
    "a console with an issuer that is not trusted",
    withConsole({ issuer: "https://k.test" }),
    ["/console/issuer: 'https://k.test' is none of api.issuers"],
  ],
  [
    "a console of another party",
    withConsole({ clientId: "b" }),
    ["/console/clientId: 'b' is no audience of its issuer"],
  ],
  [
    "a console with the audience of another issuer",
    withConsole({ issuer: "https://j.test" }, TWO),
    ["/console/clientId: 'a' is no audience of its issuer"],
  ],
  ["a console without ID tokens", withConsole({ scopes: ["email"] }), ["/console/scopes: without 'openid'"]],
  ["a console without a client", withConsole({ clientId: "" }), ["/console/clientId"]],
  ["a console with its secret in the settings", withConsole({ clientSecret: "word" }), ["/console/clientSecret"]],
  ["the key's version 0", withConsole({ keyVersion: 0 }), ["/console/keyVersion"]],
  ["sessions without an end", withConsole({ sessionHours: 100_000 }), ["/console/sessionHours"]],
  ...["state", "nonce", "redirect_uri", "code_challenge", "request_uri"].map((name): [string, object, string[]] => [
    `the console's own parameter ${name}`,
    withConsole({ authorizationParameters: { [name]: "x" } }),
    [`/console/authorizationParameters: '${name}' is the platform's own`],
  ]),
  [
    "a secret of the console that is shared with environments",
    {
      ...withConsole({ clientSecret: { name: "console", key: "latest" } }),
      secrets: { shared: [{ ids: ["console"], groups: ["shop"] }] },
    },
    ["/secrets/shared/0/ids: 'console' is a credential"],
  ],
];

describe("settings", () => {
  test.each(["https://env.test.example", "https://xenv.test", "https://test", "http://localhost:8080"])(
    "have a console at %s, beside the environments",
    (publicUrl) => {
      const { console } = settingsFrom({ ...withIssuer({}), console: { publicUrl, clientId: "a" } });
      expect(console).toEqual({
        publicUrl,
        clientId: "a",
        sessionHours: 12,
        keyVersion: 1,
        authorizationParameters: { prompt: "consent" },
        scopes: ["openid", "email", "profile", "offline_access"],
      });
    },
  );

  test.each(WRONG)("refuse %s, naming each place", (_what, document, mentions) => {
    const read = () => settingsFrom(document);
    expect(read).toThrow(SettingsInvalid);
    for (const mention of mentions) expect(read).toThrow(mention);
  });
});
