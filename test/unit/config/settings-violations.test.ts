import { describe, expect, test } from "@jest/globals";
import { SettingsInvalid, settingsFrom } from "../../../config/settings.ts";
import { least, withIssuer, withIssuers } from "./least-settings.ts";

describe("settings", () => {
  test.each([
    ["nothing", undefined, ["baseDomain", "defaultChart"]],
    ["a list", [], ["must be object"]],
    ["an unknown field", { ...least, basedomain: "x" }, ["'basedomain'"]],
    ["an unknown field far inside", { ...least, api: { limits: { x: 1 } } }, ["/api/limits", "'x'"]],
    ["a wrong type", { ...least, publicPort: "443" }, ["/publicPort"]],
    [
      "a proxy that is no block of addresses",
      { ...least, api: { trustedProxyHops: 1, trustedProxies: ["proxy"] } },
      ["/api/trustedProxies/0"],
    ],
    [
      "proxies that nothing passes through",
      { ...least, api: { trustedProxies: ["10.0.0.0/8"] } },
      ["/api/trustedProxies: no proxy is believed while trustedProxyHops is 0"],
    ],
    ["a port too high", { ...least, publicPort: 65536 }, ["/publicPort"]],
    ["an address without port", { ...least, ingressAddress: "127.0.0.1" }, ["/ingressAddress"]],
    [
      "a symmetric algorithm",
      { ...least, api: { issuers: [{ issuer: "https://i.test", audience: "a", algorithms: ["HS256"] }] } },
      ["/api/issuers/0/algorithms/0"],
    ],
    ...[
      "http://login.corp.example",
      "http://127.0.0.1.corp.example",
      "http://localhost@corp.example",
      "http://127.0.0.1:80@corp.example",
      "http://localhost\\.corp.example/",
      "https://",
      "ftp://login.corp.example",
    ].flatMap((url): [string, object, string[]][] => [
      [`the issuer ${url}`, withIssuer({ issuer: url }), ["/api/issuers/0/issuer"]],
      [`keys from ${url}`, withIssuer({ jwksUri: url }), ["/api/issuers/0/jwksUri"]],
    ]),
    ["roles of all issuers together", { ...least, api: { roles: { admin: ["a"] } } }, ["/api", "'roles'"]],
    ["a default role of everybody", withIssuer({ defaultRole: "viewer" }), ["/api/issuers/0/defaultRole", "tenant"]],
    ...["maintainer", "admin", ""].map((defaultRole): [string, object, string[]] => [
      `the default role '${defaultRole}'`,
      withIssuer({ defaultRole, requiredClaims: { hd: ["example.test"] } }),
      ["/api/issuers/0/defaultRole"],
    ]),
    ...["iss", "aud", "email"].map((claim): [string, object, string[]] => [
      `the required claim '${claim}'`,
      withIssuer({ defaultRole: "viewer", requiredClaims: { [claim]: ["a"] } }),
      ["/api/issuers/0/requiredClaims", `'${claim}'`],
    ]),
    [
      "a required claim without values",
      withIssuer({ requiredClaims: { hd: [] } }),
      ["/api/issuers/0/requiredClaims/hd"],
    ],
    [
      "an issuer twice",
      withIssuers({ issuer: "https://i.test" }, { issuer: "https://i.test" }),
      ["/api/issuers/1/issuer"],
    ],
    [
      "several issuers of which one has no prefix",
      withIssuers({ issuer: "https://i.test", groupsPrefix: "i:" }, { issuer: "https://j.test" }),
      ["/api/issuers/1/groupsPrefix: is required beside other issuers"],
    ],
    [
      "several issuers with one prefix",
      withIssuers({ issuer: "https://i.test", groupsPrefix: "i:" }, { issuer: "https://j.test", groupsPrefix: "i:" }),
      ["/api/issuers/1/groupsPrefix: is another issuer's"],
    ],
    ["no audience", withIssuer({ audience: [] }), ["/api/issuers/0/audience"]],
    ["an audience twice", withIssuer({ audience: ["a", "a"] }), ["/api/issuers/0/audience"]],
    [
      "a command line whose tokens are for no issuer",
      withIssuer({ audience: ["a", "b"], commandLine: { clientId: "cli" } }),
      ["/api/issuers/0/commandLine/clientId: 'cli' is no audience"],
    ],
    [
      "a command line that asks for no ID token",
      withIssuer({ commandLine: { clientId: "a", scopes: ["email"] } }),
      ["/api/issuers/0/commandLine/scopes: without 'openid'"],
    ],
    [
      "a command line with a password",
      withIssuer({ commandLine: { clientId: "a", flows: ["password"] } }),
      ["/api/issuers/0/commandLine/flows/0"],
    ],
    ...["", "two scopes", 'quo"ted'].map((scope): [string, object, string[]] => [
      `the scope '${scope}'`,
      withIssuer({ commandLine: { clientId: "a", scopes: ["openid", scope] } }),
      ["/api/issuers/0/commandLine/scopes/1"],
    ]),
    ["a prefix that another could begin with", withIssuer({ groupsPrefix: "corp" }), ["/api/issuers/0/groupsPrefix"]],
    ...["https://i.test#x", "https://i.test?x=1"].map((url): [string, object, string[]] => [
      `the issuer ${url}`,
      withIssuer({ issuer: url }),
      ["/api/issuers/0/issuer"],
    ]),
    ...[
      "*",
      "null",
      "",
      "https://*.example.com",
      "console.example.com",
      "https://",
      "//console.example.com",
      "https://console.example.com/",
      "https://console.example.com/app",
      "https://console.example.com?x",
      "https://console.example.com:443",
      "HTTPS://console.example.com",
      "https://Console.example.com",
      "https://me@console.example.com",
      "https://bücher.example",
      "http://console.example.com",
      "ftp://localhost",
      "http://localhost.example.com",
      "http://localhost:80",
      "https://a.example https://b.example",
      "file:///",
    ].map((origin): [string, object, string[]] => [
      `pages of ${JSON.stringify(origin)}`,
      { ...least, api: { corsOrigins: [origin] } },
      ["/api/corsOrigins/0", "https://console.example.com or http://localhost:5173"],
    ]),
    [
      "an origin twice",
      { ...least, api: { corsOrigins: ["https://a.example", "https://a.example"] } },
      ["/api/corsOrigins"],
    ],
    ...[
      { kind: "vault" },
      { kind: "google" },
      { kind: "google", project: "other/secrets" },
      { kind: "google", project: "my-project-42", writesPerSecond: 0 },
      { kind: "embedded", project: "my-project-42" },
    ].map((secretManager): [string, object, string[]] => [
      `the secret manager ${JSON.stringify(secretManager)}`,
      { ...least, secretManager },
      ["/secretManager"],
    ]),
    ...[
      "redis://user:word@redis:6379",
      "redis://:word@redis:6379",
      "http://redis:6379",
      "redis://redis?password=x",
    ].map((url): [string, object, string[]] => [
      `counters in ${url}`,
      { ...least, api: { limits: { redis: { url } } } },
      ["/api/limits/redis/url"],
    ]),
    ...[
      ["Git.example.com", "git.example.com:443", "*.example.com", "https://git.example.com", "git.example.com/shop"],
      ["reader@git.example.com", "git.example.com.:x", "git example", ""],
    ]
      .flat()
      .map((host): [string, object, string[]] => [
        `a credential of the host '${host}'`,
        { ...least, secrets: { hostCredentials: [{ id: "shop-git", hosts: [host] }] } },
        ["/secrets/hostCredentials/0/hosts/0", "host in lower case, with its port unless that is 443"],
      ]),
    [
      "a credential of no host",
      { ...least, secrets: { hostCredentials: [{ id: "shop-git", hosts: [] }] } },
      ["/secrets/hostCredentials/0/hosts"],
    ],
    [
      "a credential that is shared with environments",
      {
        ...least,
        secrets: {
          shared: [{ ids: ["mail", "shop-git"], groups: ["shop"] }],
          hostCredentials: [{ id: "shop-git", hosts: ["git.test"] }],
        },
      },
      [
        "/secrets/shared/0/ids: 'shop-git' is a credential of hosts, of messages or of the console, or a key of webhooks, which are never shared",
      ],
    ],
    [
      "a credential that is no id",
      { ...least, secrets: { hostCredentials: [{ id: "../shop", hosts: ["git.test"] }] } },
      ["/secrets/hostCredentials/0/id"],
    ],
    ...["https://reader:word@git.test/c.git", "https://word@git.test/c.git"].map(
      (repoUrl): [string, object, string[]] => [
        `the chart at ${repoUrl}`,
        { ...least, defaultChart: { ...least.defaultChart, repoUrl } },
        ["/defaultChart/repoUrl"],
      ],
    ),
    [
      "a default chart of any version",
      { ...least, defaultChart: { repoUrl: "https://charts.test", chart: "shop", version: "*" } },
      ["/defaultChart/version: is no exact version, such as 1.2.3"],
    ],
    [
      "a default chart without a place",
      { ...least, defaultChart: { repoUrl: "https://git.test/c.git" } },
      ["/defaultChart: a chart of a git repository has both path and revision"],
    ],
    ...[
      "collector:4318",
      "grpc://collector:4317",
      "http://",
      "https://user:word@otlp.example.com",
      "https://otlp.example.com/?key=word",
      "https://otlp.example.com/#word",
    ].map((endpoint): [string, object, string[]] => [
      `the collector ${endpoint}`,
      { ...least, tracing: { endpoint } },
      ["/tracing/endpoint"],
    ]),
    [
      "headers for a collector in clear",
      { ...least, tracing: { endpoint: "http://collector:4318", headersFile: "/etc/otlp/headers" } },
      ["/tracing/headersFile"],
    ],
    ["a share of traces above 1", { ...least, tracing: { sampleRatio: 1.1 } }, ["/tracing/sampleRatio"]],
    ["two wrong things", { ...least, publicPort: 0, logLevel: "loud" }, ["/publicPort", "/logLevel"]],
  ])("refuse %s, naming each place", (_what, document, mentions) => {
    const refused = () => settingsFrom(document, "test.yaml");
    expect(refused).toThrow(SettingsInvalid);
    for (const mention of ["test.yaml", ...mentions]) expect(refused).toThrow(mention);
  });
});
