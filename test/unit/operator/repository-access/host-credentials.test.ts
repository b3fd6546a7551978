import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import type { RepositorySpec } from "../../../../crds/repository/repository.ts";
import { SecretManagerUnavailable } from "../../../../operator/ports/secret-manager.ts";
import {
  CredentialRefused,
  chartCredential,
  cloneCredential,
  namesUnbound,
  pullCredential,
} from "../../../../operator/repository-access/host-credentials.ts";
import { memorySecretManager } from "../../../support/doubles/memory/secret-manager.ts";
import { repositoryFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";

const hostCredentials = [
  {
    id: "shop",
    hosts: ["git.test", "git.test:8443", "registry.test", "registry.test:5000", "docker.io", "127.0.0.1:9300"],
  },
  { id: "billing", hosts: ["git.billing.test"] },
];
const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });

/** The secret manager has `shop` in two versions; everything else is the test's. */
function vault(...values: readonly string[]) {
  const secretManager = memorySecretManager();
  secretManager.share({ id: "shop", labels: {}, values: values.length === 0 ? ["reader:old", "reader:new"] : values });
  return { settings, secretManager };
}

const named = (name = "shop", key = "latest") => ({ name, key });
const of = (spec: Partial<RepositorySpec>) => repositoryFixture("shop-api", spec);
const image = (repository: string) => ({ image: { repository }, imagePullSecretRef: named() });

describe("a credential", () => {
  test.each<{ name: string; given: Partial<RepositorySpec>; expected: string | undefined }>([
    { name: "is none where none is named", given: {}, expected: undefined },
    { name: "is the newest", given: { credentialsRef: named() }, expected: "reader:new" },
    { name: "is the version that is named", given: { credentialsRef: named("shop", "1") }, expected: "reader:old" },
    {
      name: "goes to a host at another port where that is bound, too",
      given: { cloneUrl: "https://git.test:8443/shop.git", credentialsRef: named() },
      expected: "reader:new",
    },
    {
      name: "goes to the port that https has anyway",
      given: { cloneUrl: "https://git.test:443/shop.git", credentialsRef: named() },
      expected: "reader:new",
    },
    {
      name: "goes to a host whatever the spelling",
      given: { cloneUrl: "https://GIT.Test/shop.git", credentialsRef: named() },
      expected: "reader:new",
    },
    {
      name: "goes to this machine",
      given: { cloneUrl: "http://127.0.0.1:9300/shop.git", credentialsRef: named() },
      expected: "reader:new",
    },
    {
      name: "is not read where the URL is invalid",
      given: { cloneUrl: "https://[", credentialsRef: named() },
      expected: undefined,
    },
  ])("of a git host $name", async ({ given, expected }) => {
    expect((await cloneCredential(of(given), vault()))?.reveal()).toBe(expected);
  });

  test.each<{ name: string; given: Partial<RepositorySpec>; expected: string | undefined }>([
    { name: "is none where none is named", given: { credentialsRef: named() }, expected: undefined },
    { name: "goes where the image is", given: image("registry.test/shop/shop-api"), expected: "reader:new" },
    { name: "goes to its port", given: image("registry.test:5000/shop-api"), expected: "reader:new" },
    { name: "goes to the port of https", given: image("registry.test:443/shop-api"), expected: "reader:new" },
    { name: "goes to Docker Hub", given: image("shop/shop-api"), expected: "reader:new" },
  ])("of a registry $name", async ({ given, expected }) => {
    expect((await pullCredential(of(given), vault()))?.reveal()).toBe(expected);
  });

  test.each([
    { name: "as it is", given: "reader:pass:word", expected: "reader:pass:word" },
    { name: "without the end of its line", given: "reader:word\n", expected: "reader:word" },
    { name: "without the end of a line of Windows", given: "reader:word\r\n", expected: "reader:word" },
    { name: "without a user", given: ":token", expected: ":token" },
    { name: "whatever its letters", given: '_json_key:{"a": "ü %/@"}', expected: '_json_key:{"a": "ü %/@"}' },
  ])("is taken $name", async ({ given, expected }) => {
    expect((await cloneCredential(of({ credentialsRef: named() }), vault(given)))?.reveal()).toBe(expected);
  });
});

describe("a credential is refused", () => {
  const notBound = (id: string, host: string) =>
    `the settings bind no credential '${id}' to ${host}: add the host to it in secrets.hostCredentials, or name a credential of ${host}`;

  test.each<{ name: string; given: Partial<RepositorySpec>; values?: string[]; expected: [string, string] }>([
    {
      name: "when its host is another one",
      given: { cloneUrl: "https://evil.test/shop.git", credentialsRef: named() },
      expected: ["CredentialNotBound", notBound("shop", "evil.test")],
    },
    {
      name: "when its host only begins alike",
      given: { cloneUrl: "https://git.test.evil.test/shop.git", credentialsRef: named() },
      expected: ["CredentialNotBound", notBound("shop", "git.test.evil.test")],
    },
    {
      name: "when what looks like its host is not the host",
      given: { cloneUrl: "https://evil.test\\@git.test/shop.git", credentialsRef: named() },
      expected: ["CredentialNotBound", notBound("shop", "evil.test")],
    },
    {
      name: "when its port is another one",
      given: { cloneUrl: "https://git.test:9443/shop.git", credentialsRef: named() },
      expected: ["CredentialNotBound", notBound("shop", "git.test:9443")],
    },
    {
      name: "when it is another host's",
      given: { credentialsRef: named("billing") },
      expected: ["CredentialNotBound", notBound("billing", "git.test")],
    },
    {
      name: "when the settings know nothing of it",
      given: { credentialsRef: named("mail") },
      expected: ["CredentialNotBound", notBound("mail", "git.test")],
    },
    {
      name: "when it does not exist",
      given: { cloneUrl: "https://git.billing.test/b.git", credentialsRef: named("billing") },
      expected: ["CredentialNotFound", "the secret manager has no 'billing@latest': create it, or name another one"],
    },
    {
      name: "when it has no such version",
      given: { credentialsRef: named("shop", "3") },
      expected: ["CredentialNotFound", "the secret manager has no 'shop@3': create it, or name another one"],
    },
    ...["token-alone", "reader:one\nreader:two", "\nreader:word", ""].map((value) => ({
      name: `when it is ${JSON.stringify(value)}`,
      given: { credentialsRef: named("shop", "1") },
      values: [value],
      expected: ["CredentialInvalid", "'shop@1' is not user:password in one line"] as [string, string],
    })),
  ])("$name", async ({ given, values = [], expected: [reason, message] }) => {
    const requested = vault(...values);
    const refused = await cloneCredential(of(given), requested).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CredentialRefused);
    expect(refused).toMatchObject({ reason, message: `spec.credentialsRef of Repository 'shop-api': ${message}` });
    // An unbound credential is not even read.
    expect(requested.secretManager.looks).toHaveLength(reason === "CredentialNotBound" ? 0 : 1);
  });

  test("for a registry as for a git host", async () => {
    const refused = pullCredential(of(image("evil.test/shop-api")), vault());
    await expect(refused).rejects.toMatchObject({
      reason: "CredentialNotBound",
      message: `spec.imagePullSecretRef of Repository 'shop-api': ${notBound("shop", "evil.test")}`,
    });
  });

  test("by no caller while the secret manager is away: that is no answer", async () => {
    const requested = vault();
    requested.secretManager.setReachable(false);
    const answer = () => cloneCredential(of({ credentialsRef: named() }), requested);
    await expect(answer()).rejects.toBeInstanceOf(SecretManagerUnavailable);
    requested.secretManager.setReachable(true);
    expect((await answer())?.reveal()).toBe("reader:new");
  });
});

test("a credential is read whenever it is wanted: a new value counts at once", async () => {
  const requested = vault();
  const answer = async () => (await cloneCredential(of({ credentialsRef: named() }), requested))?.reveal();
  expect(await answer()).toBe("reader:new");
  requested.secretManager.share({ id: "shop", labels: {}, values: ["reader:old", "reader:new", "reader:newest"] });
  expect(await answer()).toBe("reader:newest");
});

describe("the credential for the place of a chart", () => {
  const inGit = { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main" };
  const inOci = (host: string) => ({ repoUrl: `oci://${host}/charts`, chart: "shop", version: "1.0.0" });
  const credentialsRef = named();
  const answer = (chart: RepositorySpec["chart"], defaultChart?: object) => {
    const backend = of(chart === undefined ? {} : { chart });
    const given = { ...settings, defaultChart: { ...settings.defaultChart, ...defaultChart } };
    return chartCredential({ backend }, { ...vault(), settings: given as typeof settings });
  };

  test.each([
    ["is none where none is named", inGit, undefined],
    ["goes to the host of a git repository", { ...inGit, credentialsRef }, "reader:new"],
    [
      "goes to the host of a Helm repository",
      { repoUrl: "https://git.test:8443/stable", chart: "shop", version: "1.0.0", credentialsRef },
      "reader:new",
    ],
    ["goes to a registry", { ...inOci("registry.test"), credentialsRef }, "reader:new"],
    ["goes to a registry at its port", { ...inOci("registry.test:5000"), credentialsRef }, "reader:new"],
    ["goes to the port that registries have anyway", { ...inOci("Registry.test:443"), credentialsRef }, "reader:new"],
  ])("%s", async (_, chart, expected) => {
    expect((await answer(chart))?.reveal()).toBe(expected);
  });

  test.each([
    ["another host", { ...inGit, repoUrl: "https://evil.test/charts.git", credentialsRef }, "'shop' to evil.test"],
    ["another port", { ...inOci("registry.test:5001"), credentialsRef }, "'shop' to registry.test:5001"],
    ["the host of another team's", { ...inGit, credentialsRef: named("billing") }, "'billing' to git.test"],
  ])("is not read for %s", async (_, chart, words) => {
    const refused = await answer(chart).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CredentialRefused);
    const message = expect.stringContaining(`spec.chart.credentialsRef of Repository 'shop-api': the settings bind no`);
    expect(refused).toMatchObject({ reason: "CredentialNotBound", message });
    expect((refused as Error).message).toContain(words);
    expect(namesUnbound(of({ chart }), settings)).toBe(true);
  });

  test("of the settings' chart is for a backend without one of its own", async () => {
    const ofDefault = { repoUrl: "https://git.test/charts.git", credentialsRef };
    expect((await answer(undefined, ofDefault))?.reveal()).toBe("reader:new");
    expect(await answer(inGit, ofDefault)).toBeUndefined();
    const elsewhere = { ...ofDefault, repoUrl: "https://evil.test/charts.git" };
    await expect(answer(undefined, elsewhere)).rejects.toThrow("defaultChart.credentialsRef of the settings");
  });
});
