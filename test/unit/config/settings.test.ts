import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Settings } from "../../../config/settings.schema.ts";
import { readSettings, settingsFrom } from "../../../config/settings.ts";
import { least, withIssuer, withIssuers } from "./least-settings.ts";

describe("settings", () => {
  test("have a schema that is one, which is not checked at every start", () => {
    expect(new Ajv2020().validateSchema(Settings)).toBe(true);
  });

  test("are complete from the least that must be said", () => {
    expect(settingsFrom(least)).toMatchObject({
      namespace: "ephemeral-system",
      secretsNamespace: "ephemeral-secrets",
      serviceAccount: "platform",
      publicPort: 443,
      leaderElection: true,
      logLevel: "info",
      deployer: { namespace: "argocd", clusterServer: "https://kubernetes.default.svc" },
      api: { host: "127.0.0.1", port: 8080, limits: { authenticatedPerMinute: 100, unauthenticatedPerMinute: 10 } },
      isolation: { quota: { pods: "30", "services.loadbalancers": "0" } },
      ttl: { maximumHours: 168 },
      reconcile: { workers: 16, resyncMinutes: 10, creationDeadlineMinutes: 15, probeSeconds: 60, downMinutes: 5 },
      expiry: { perSecond: 500, deletionBudget: { share: 0.5, atLeast: 50 } },
      sweep: { everySeconds: 300, graceSeconds: 600, deletionBudget: { share: 0.1, atLeast: 5 } },
      records: { atMost: 1e4, days: 90 },
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

  test.each(["http://collector:4318", "https://otlp.example.com/opentelemetry", "http://[::1]:4318/"])(
    "send spans to %s, all of them unless they say otherwise",
    (endpoint) => {
      expect(settingsFrom({ ...least, tracing: { endpoint } }).tracing).toEqual({ endpoint, sampleRatio: 1 });
      expect(settingsFrom({ ...least, tracing: { sampleRatio: 0.1 } }).tracing).toEqual({ sampleRatio: 0.1 });
    },
  );

  test.each(["https://otlp.example.com", "http://127.0.0.1:4318"])("send headers to %s", (endpoint) => {
    const tracing = { endpoint, headersFile: "/etc/otlp/headers" };
    expect(settingsFrom({ ...least, tracing }).tracing).toMatchObject(tracing);
  });

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
        issuer: "https://i.test",
        audience: "a",
        algorithms: ["RS256"],
        groupsClaim: "groups",
        requiredClaims: {},
        roles: { viewer: [], developer: [], maintainer: [], admin: [] },
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
  // https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/: three successful, one failed and one running Job.
  expect(Number(objects["count/jobs.batch"])).toBeGreaterThanOrEqual(Number(objects["count/cronjobs.batch"]) * 5);
});
