import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readSettings, SettingsInvalid, settingsFrom } from "../../../config/settings.ts";

const least = {
  baseDomain: "env.test",
  defaultChart: { repoUrl: "https://git.test/chart.git", path: ".", revision: "main" },
};

const withIssuers = (...issuers: readonly object[]) => ({
  ...least,
  api: { issuers: issuers.map((change) => ({ audience: "a", ...change })) },
});
const withIssuer = (change: object) => ({
  ...least,
  api: { issuers: [{ issuer: "https://i.test", audience: "a", ...change }] },
});

describe("settings", () => {
  test("are complete from the least that must be said", () => {
    expect(settingsFrom(least)).toMatchObject({
      ...{ namespace: "ephemeral-system", secretsNamespace: "ephemeral-secrets", serviceAccount: "platform" },
      ...{ publicPort: 443, leaderElection: true, logLevel: "info" },
      deployer: { namespace: "argocd", clusterServer: "https://kubernetes.default.svc" },
      api: { host: "127.0.0.1", port: 8080, limits: { authenticatedPerMinute: 100, unauthenticatedPerMinute: 10 } },
      isolation: { quota: { pods: "30", "services.loadbalancers": "0" } },
      ttl: { maximumHours: 168 },
      reconcile: { workers: 16, resyncMinutes: 10, creationDeadlineMinutes: 15, probeSeconds: 60, downMinutes: 5 },
      expiry: { perSecond: 500, breaker: { share: 0.5, atLeast: 50 } },
      sweep: { everySeconds: 300, graceSeconds: 600, breaker: { share: 0.1, atLeast: 5 } },
      records: { atMost: 10_000, days: 90 },
      secretManager: { kind: "embedded" },
    });
  });

  test("keep what was said beside the defaults", () => {
    expect(settingsFrom({ ...least, reconcile: { workers: 2 } }).reconcile).toMatchObject({
      workers: 2,
      resyncMinutes: 10,
    });
  });

  test.each([
    { kind: "embedded" },
    { kind: "google", project: "my-project-42" },
    { kind: "google", project: "my-project-42", locations: ["europe-west3"], writesPerSecond: 4 },
  ])("keep secrets in %j", (secretManager) => {
    expect(settingsFrom({ ...least, secretManager }).secretManager).toEqual(secretManager);
  });

  test.each(["redis://redis:6379", "rediss://redis.example.com:6379/0", "redis://127.0.0.1:6379/15"])(
    "count in %s",
    (url) => {
      const redis = { url, username: "limits", passwordFile: "/etc/redis/password" };
      expect(settingsFrom({ ...least, api: { limits: { redis } } }).api.limits).toMatchObject({ redis });
    },
  );

  test.each(["git.example.com", "git.example.com:8443", "docker.io", "127.0.0.1:9300", "[::1]:9300", "localhost"])(
    "bind credentials to %s",
    (host) => {
      const hostCredentials = [{ id: "shop-git", hosts: [host] }];
      expect(settingsFrom({ ...least, secrets: { hostCredentials } }).secrets).toMatchObject({ hostCredentials });
    },
  );

  test("keep the audit log in a file of which as much stays as is usual", () => {
    const { audit } = settingsFrom({ ...least, audit: { file: { path: "/var/audit.log" } } });
    expect(audit).toEqual({ file: { path: "/var/audit.log", maxMegabytes: 100, keep: 10 } });
    expect(settingsFrom(least).audit).toEqual({});
  });

  test.each([
    "https://i.test",
    "https://i.test:8443/realms/a",
    "http://127.0.0.1:9000",
    "http://[::1]/a",
    "http://localhost",
  ])("take keys from %s", (url) => {
    expect(settingsFrom(withIssuer({ issuer: url, jwksUri: url })).api.issuers).toMatchObject([{ issuer: url }]);
  });

  test.each([
    "https://console.example.com",
    "https://console.example.com:8443",
    "https://xn--bcher-kva.example",
    "http://localhost:5173",
    "http://127.0.0.1:3000",
    "http://[::1]:3000",
  ])("let pages of %s call", (origin) => {
    expect(settingsFrom({ ...least, api: { corsOrigins: [origin] } }).api.corsOrigins).toEqual([origin]);
    expect(settingsFrom(least).api.corsOrigins).toEqual([]);
  });

  test("give no role to users of an issuer unless they say so, and to a tenant's when they do", () => {
    expect(settingsFrom(withIssuer({})).api.issuers).toEqual([
      {
        ...{ issuer: "https://i.test", audience: "a", algorithms: ["RS256"], groupsClaim: "groups" },
        ...{ requiredClaims: {}, roles: { viewer: [], developer: [], maintainer: [], admin: [] } },
      },
    ]);
    const tenant = { requiredClaims: { tid: ["t-1"] }, defaultRole: "developer" };
    expect(settingsFrom(withIssuer(tenant)).api.issuers).toMatchObject([tenant]);
  });

  test("trust several issuers, each with a prefix of its own for groups", () => {
    const several = [
      { issuer: "https://i.test", groupsPrefix: "i:" },
      { issuer: "https://j.test", groupsPrefix: "j:" },
    ];
    expect(settingsFrom(withIssuers(...several)).api.issuers).toMatchObject(several);
  });

  test("can't be changed, however deep, and neither does reading change the document", () => {
    const document = structuredClone(least);
    const settings = settingsFrom(document);
    expect(() => Object.assign(settings.isolation.quota, { pods: "1" })).toThrow(TypeError);
    expect(() => Object.assign(settings, { baseDomain: "x" })).toThrow(TypeError);
    expect(Object.keys(document)).toEqual(["baseDomain", "defaultChart"]);
  });

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
    ["a prefix that another could begin with", withIssuer({ groupsPrefix: "corp" }), ["/api/issuers/0/groupsPrefix"]],
    ...["https://i.test#x", "https://i.test?x=1"].map((url): [string, object, string[]] => [
      `the issuer ${url}`,
      withIssuer({ issuer: url }),
      ["/api/issuers/0/issuer"],
    ]),
    ...[
      ...["*", "null", "", "https://*.example.com", "console.example.com", "https://", "//console.example.com"],
      ...["https://console.example.com/", "https://console.example.com/app", "https://console.example.com?x"],
      ...["https://console.example.com:443", "HTTPS://console.example.com", "https://Console.example.com"],
      ...["https://me@console.example.com", "https://bücher.example", "http://console.example.com", "ftp://localhost"],
      ...["http://localhost.example.com", "http://localhost:80", "https://a.example https://b.example", "file:///"],
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
        "/secrets/shared/0/ids: 'shop-git' is a credential of hosts, of messages or a key of webhooks, which are never shared",
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
    ["two wrong things", { ...least, publicPort: 0, logLevel: "loud" }, ["/publicPort", "/logLevel"]],
  ])("refuse %s, naming each place", (_what, document, mentions) => {
    const refused = () => settingsFrom(document, "test.yaml");
    expect(refused).toThrow(SettingsInvalid);
    for (const mention of ["test.yaml", ...mentions]) expect(refused).toThrow(mention);
  });
});

describe("the file", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "settings-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const written = (text: string) => {
    const path = join(folder, "settings.yaml");
    writeFileSync(path, text);
    return path;
  };

  test("is YAML", () => {
    const path = written(
      "baseDomain: env.test\ndefaultChart: {repoUrl: 'https://git.test/c.git', path: ., revision: main}\n",
    );
    expect(readSettings(path).baseDomain).toBe("env.test");
  });

  test("that is absent, or no YAML, is named", () => {
    expect(() => readSettings(join(folder, "absent.yaml"))).toThrow(/absent\.yaml can't be read: ENOENT/);
    expect(() => readSettings(written("a: [1\nb: }"))).toThrow(/settings\.yaml can't be read/);
  });
});

test("there may be all Jobs that the CronJobs run and keep", () => {
  const defaultChart = { repoUrl: "https://git.example.test/chart.git", path: ".", revision: "main" };
  const { objects } = settingsFrom({ baseDomain: "env.example.test", defaultChart }).isolation;
  // https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/: three that succeeded, one that failed, one that runs.
  expect(Number(objects["count/jobs.batch"])).toBeGreaterThanOrEqual(Number(objects["count/cronjobs.batch"]) * 5);
});
