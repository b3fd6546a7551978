import { beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, paths, uidLabel } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const secrets = paths.secrets("argocd");
const typeLabel = "argocd.argoproj.io/secret-type";
const UID = "11111111-2222-4333-8444-555555555555";
const onlyLogins = "of the deployer's Secrets the platform writes only env-* with the labels";
const onlyLabels = "gives a chart's login only its own labels, no annotation, no finalizer";
const onlyFields = "has type, url, project, username and password, and nothing else";
const onlyProject = "is for the project of its own name";
const onlyPlace = "is for one repository of charts, by its URL and its kind";

const encoded = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));

interface Change {
  readonly metadata?: object;
  readonly data?: Readonly<Record<string, string | undefined>>;
  readonly beside?: object;
}

/** The login of the environment of that namespace, as the platform writes it. */
function login(name: string, { metadata, data, beside }: Change = {}): object {
  const fields = { type: "git", url: "https://git.example.test/charts.git", project: name };
  const all = { ...fields, username: "reader", password: "word", ...data };
  const present = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]));
  const labels = { [uidLabel]: UID, [typeLabel]: "repository" };
  return { metadata: { name, labels, ...metadata }, type: "Opaque", data: encoded(present), ...beside };
}

let admin: ApiCalls;
let platform: ApiCalls;
beforeAll(() => {
  admin = administrator(plane);
  platform = callsAs(plane, { token: plane.platform.token });
});

async function refused(reply: ReturnType<ApiCalls["get"]>, words: string): Promise<void> {
  expect(await reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
}

const asWritten = (change: Change = {}) =>
  platform.create(`${secrets}?dryRun=All`, login(unique("env-login-"), change));

describe("the login at a chart's place", () => {
  test.each([
    ["a folder of git", {}],
    ["a port and a local address", { url: "http://127.0.0.1:9300/charts.git" }],
    [
      "every sign that a URL of a chart may have",
      { url: "https://git.example.test:8443/~a_B@c+d,e=f&g%20h:i-9/x.git" },
    ],
    ["a Helm repository", { type: "helm", url: "https://charts.example.test/stable" }],
    ["a registry", { type: "oci", url: "oci://registry.example.test:5000/charts/shop" }],
    ["a long place", { url: `https://git.example.test/${"a".repeat(480)}.git` }],
    ["an empty password", { password: undefined }],
  ])("is written for %s", async (_, data) => {
    const whole = data as Record<string, string | undefined>;
    // Kubernetes keeps an empty value; a missing one is another thing.
    const beside = "password" in whole ? { stringData: { password: "" } } : {};
    expect(await asWritten({ data: whole, beside })).toMatchObject({ status: 201 });
  });

  test.each<[string, Change, string]>([
    ["without the environment's label", { metadata: { labels: { [typeLabel]: "repository" } } }, onlyLogins],
    ["as a cluster's", { metadata: { labels: { [uidLabel]: UID, [typeLabel]: "cluster" } } }, onlyLogins],
    [
      "as a template for many places",
      { metadata: { labels: { [uidLabel]: UID, [typeLabel]: "repo-creds" } } },
      onlyLogins,
    ],
    ["under another name", { metadata: { name: "repo-shop" } }, onlyLogins],
    [
      "with a label of others",
      { metadata: { labels: { [uidLabel]: UID, [typeLabel]: "repository", team: "shop" } } },
      onlyLabels,
    ],
    ["with an annotation", { metadata: { annotations: { "managed-by": "argocd.argoproj.io" } } }, onlyLabels],
    ["with a finalizer", { metadata: { finalizers: ["example.test/hold"] } }, onlyLabels],
    [
      "with another owner",
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "any", uid: UID }] } },
      onlyLabels,
    ],
    ["that trusts any certificate", { data: { insecure: "true" } }, onlyFields],
    ["that goes through a proxy", { data: { proxy: "https://evil.example.test" } }, onlyFields],
    ["that lacks its project", { data: { project: undefined } }, onlyFields],
    ["of another type of Secret", { beside: { type: "example.test/other" } }, onlyFields],
    ["longer than can be judged", { data: { url: `https://git.example.test/${"a".repeat(800)}` } }, onlyFields],
    ["for another project", { data: { project: "default" } }, onlyProject],
    ["for a project with a sign before its name", { data: { project: "\u0000env-shop" } }, onlyProject],
    ["for all places, as a pattern", { data: { url: "*" } }, onlyPlace],
    ["for a pattern of places", { data: { url: "https://git.example.test/*" } }, onlyPlace],
    ["for a place with dots", { data: { url: "https://git.example.test/charts/../x.git" } }, onlyPlace],
    ["for a place with a sign that is no text", { data: { url: "https://git.example.test/\u0000x.git" } }, onlyPlace],
    ["for a place by ssh", { data: { url: "ssh://git.example.test/x.git" } }, onlyPlace],
    ["for a registry as git", { data: { url: "oci://registry.example.test/charts" } }, onlyPlace],
    ["for git as a registry", { data: { type: "oci" } }, onlyPlace],
    ["for no kind of place", { data: { type: "any" } }, onlyPlace],
  ])("is never written %s", async (_, change, words) => {
    await refused(asWritten(change), words);
  });

  test("is changed, taken over for a later environment of that name, and removed, but for what others wrote", async () => {
    const name = unique("env-login-");
    const path = `${secrets}/${name}`;
    await given(platform, secrets, login(name));
    expect(await platform.patch(path, { data: encoded({ password: "renewed" }) })).toMatchObject({ status: 200 });
    await refused(platform.patch(path, { data: encoded({ project: "default" }) }), onlyProject);
    await refused(platform.patch(path, { data: encoded({ proxy: "x" }) }), onlyFields);
    await refused(platform.patch(path, { metadata: { labels: { [typeLabel]: "cluster" } } }), onlyLogins);
    await refused(platform.patch(path, { metadata: { labels: { [uidLabel]: null } } }), onlyLogins);
    const next = { metadata: { labels: { [uidLabel]: "22222222-2222-4333-8444-555555555555" } } };
    expect(await platform.patch(path, next)).toMatchObject({ status: 200 });
    // An administrator's edits must not keep it for ever.
    const edits = { metadata: { labels: { team: "shop" }, annotations: { a: "b" } }, data: encoded({ proxy: "x" }) };
    expect(await admin.patch(path, edits)).toMatchObject({ status: 200 });
    expect(await platform.patch(path, {})).toMatchObject({ status: 200 });
    await refused(platform.get(path), "cannot get");
    await refused(platform.get(secrets), "cannot list");
    expect(await platform.delete(path)).toMatchObject({ status: 200 });
  });
});

describe("the deployer's other Secrets", () => {
  const password = encoded({ "admin.password": "word" });
  const foreign = [
    ["that of Argo CD's administrators", { name: "argocd-secret" }],
    ["another repository's", { name: "repo-1234", labels: { [typeLabel]: "repository" } }],
    ["a cluster's that is named as an environment's", { name: "env-prod", labels: { [typeLabel]: "cluster" } }],
    ["a repository's that is named as an environment's", { name: "env-stage", labels: { [typeLabel]: "repository" } }],
  ] as const;

  test.each(foreign)("can't be read by a patch, changed, taken over or removed: %s", async (_, metadata) => {
    const path = `${secrets}/${metadata.name}`;
    const before = await admin.get(path);
    if (before.status === 404) await given(admin, secrets, { metadata, data: password });
    const patches = [
      {},
      { metadata: { labels: { [uidLabel]: UID, [typeLabel]: "repository" } } },
      { ...login(metadata.name), metadata: { labels: { [uidLabel]: UID, [typeLabel]: "repository" } } },
    ];
    for (const patch of patches) {
      const reply = await platform.patch(path, patch);
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(onlyLogins) });
      expect(JSON.stringify(reply)).not.toContain(password["admin.password"]);
      await refused(platform.patch(`${path}?dryRun=All`, patch), onlyLogins);
    }
    await refused(platform.delete(path), onlyLogins);
    await refused(platform.get(path), "cannot get");
    if (before.status === 404) await admin.delete(path);
  });
});
