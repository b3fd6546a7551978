import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { persist } from "../../../api/environments/creation/create-environment.ts";
import { settingsFrom } from "../../../config/settings.ts";
import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  environmentKind,
} from "../../../crds/environment/ephemeral-environment.ts";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { repositoryKind } from "../../../crds/repository/repository.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType, recordType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import { type ResourceType, resourceType } from "../../../operator/kit/client/objects.ts";
import type { KubeRequest, RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { type Log, winstonLog } from "../../../operator/kit/log.ts";
import { type GitServer, startGitServer } from "../../support/doubles/git-server.ts";
import { memoryAuditTrail } from "../../support/doubles/memory/audit-trail.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

const kind = (group: string, kindName: string, plural: string) =>
  resourceType<WireObject>({ group, version: "v1", kind: kindName, plural, namespaced: true });

/** Kinds that a person without a right on Secrets may read. */
const READABLE: readonly ResourceType<WireObject>[] = [
  resourceType<WireObject>(environmentKind),
  resourceType<WireObject>(repositoryKind),
  applicationKind,
  appProjectKind,
  kind("", "Event", "events"),
  kind("events.k8s.io", "Event", "events"),
  kind("", "ConfigMap", "configmaps"),
];

let world: World;
let git: GitServer;
let lines = "";
beforeAll(async () => {
  world = await createWorld();
  git = await startGitServer({ credentials: given.GIT });
  await git.createRepository("confidential-web", ["main"]);
}, 180_000);
afterAll(async () => {
  await git.stop();
  await world.stop();
}, 60_000);

/** Refuses the first attempt at every Secret in the namespace with an error that quotes the request. */
function quotingRefusal(): RequestInterceptor {
  const refused = new Set<unknown>();
  return async (request, next) => {
    const name = (request.body as WireObject | undefined)?.metadata?.name;
    if (!isPodSecret(request) || refused.has(name)) return next();
    refused.add(name);
    const message = `Secret is invalid: ${JSON.stringify(request.body)}`;
    const details = { causes: [{ field: "data", reason: "FieldValueInvalid", message }] };
    return { status: 422, headers: {}, body: { kind: "Status", reason: "Invalid", message, details } };
  };
}

const isPodSecret = ({ verb, type, namespace }: KubeRequest) =>
  verb === "create" && type?.plural === secretKind.plural && namespace === "env-confidential";

const logStream = new Writable({
  write(chunk, _encoding, written) {
    lines += String(chunk);
    written();
  },
});

/** A value as it could appear: plain, encoded for a Secret, or for a URL or a form. */
function forms(value: string): string[] {
  const base64 = Buffer.from(value).toString("base64");
  const url = Buffer.from(value).toString("base64url");
  return [value, base64, base64.replace(/=+$/, ""), url, encodeURIComponent(value), encodeURIComponent(base64)];
}

const source = { branch: "main", commit: "b".repeat(40) };
const spec: EnvironmentSpec = {
  backend: { repository: "test-backend", ...source },
  frontend: { repository: "confidential-web", branch: "main" },
  secrets: { provided: ["STRIPE_KEY"] },
  overrides: { backend: { env: [{ name: "MAIL_KEY", secretRef: { name: "mail-key", key: "latest" } }] } },
  access: { groups: ["shop"] },
};
const seen = { STRIPE_KEY: "sk_test_given-with-the-creation:/+?=", MAIL_KEY: "mail_shared-in-the-secret-manager&%" };
/** Credentials for hosts; the last two are refused, by the host and by us. */
const credentials = {
  GIT: "reader:git-token_that-may-read-everything/+&",
  REGISTRY: "puller:registry-token_that-may-pull-everything/+&",
  WRONG: "reader:git-token_that-the-host-does-not-know/+&",
  BROKEN: "git-token_that-a-user-stored-without-a-user/+&",
};
const given = { ...seen, ...credentials };

async function share(): Promise<void> {
  const stored = { "mail-key": given.MAIL_KEY, git: given.GIT, registry: given.REGISTRY };
  for (const [name, value] of Object.entries({ ...stored, wrong: given.WRONG, broken: given.BROKEN })) {
    const metadata = { name, namespace: "ephemeral-secrets", labels: { [SHARED_SECRET_LABEL]: "true" } };
    await world.admin.create(secretKind, { metadata, data: { "1": Buffer.from(value).toString("base64") } });
  }
}

const settings = () => {
  const ids = ["git", "wrong", "broken"];
  const hostCredentials = [
    ...ids.map((id) => ({ id, hosts: [git.address] })),
    { id: "registry", hosts: ["registry.test"] },
  ];
  const shared = [{ ids: ["mail-key"], groups: ["shop"] }];
  return settingsFrom({ ...testSettings, secrets: { shared, hostCredentials } });
};

async function register(): Promise<void> {
  const latest = (name: string) => ({ name, key: "latest" });
  const of = (credential: string) => ({
    type: "frontend" as const,
    cloneUrl: `http://${git.address}/confidential-web.git`,
    credentialsRef: latest(credential),
    image: { repository: "registry.test/confidential" },
  });
  await world.register("confidential-web", { ...of("git"), imagePullSecretRef: latest("registry") });
  await world.register("confidential-wrong", of("wrong"));
  await world.register("confidential-broken", of("broken"));
  const reasons = async () => {
    const { items } = await world.admin.list(repositoryType);
    const found = items.flatMap(({ status }) => status?.conditions?.map(({ reason }) => reason) ?? []);
    return ["Checked", "Unreachable", "CredentialInvalid"].every((reason) => found.includes(reason));
  };
  await until(reasons, { what: "every Repository being checked", deadlineMs: 30_000 });
}

async function wrapped(): Promise<string> {
  const found = await world.admin.find(secretKind, { name: "image-pull", namespace: "env-confidential" });
  const { ".dockerconfigjson": text = "" } = (found?.data ?? {}) as Record<string, string>;
  const configuration = Buffer.from(text, "base64").toString();
  expect(configuration).toContain(Buffer.from(given.REGISTRY).toString("base64"));
  return configuration;
}

async function make({ operator }: RunningOperator, log: Log): Promise<EphemeralEnvironment> {
  const { environments, secretManager } = operator.ports;
  const provided = new Map([["STRIPE_KEY", new Sensitive(given.STRIPE_KEY)]]);
  return persist({ name: "confidential", spec, provided }, { environments, secretManager, log });
}

async function seenValues(): Promise<Record<string, string>> {
  const secret = (await world.find("confidential"))?.status?.podSecrets?.at(-1) ?? "";
  const found = await world.admin.find(secretKind, { name: secret, namespace: "env-confidential" });
  const encoded = Object.entries((found?.data ?? {}) as Record<string, string>);
  return Object.fromEntries(encoded.map(([name, value]) => [name, Buffer.from(value, "base64").toString("utf8")]));
}

async function rotate(): Promise<void> {
  const change = { spec: { secrets: { rotate: { API_TOKEN: "1" } } } };
  await world.admin.patch(environmentType, { name: "confidential" }, change, { as: "merge" });
  const isNew = ({ status }: EphemeralEnvironment) =>
    status?.phase === "ready" && status.secrets?.find(({ name }) => name === "API_TOKEN")?.version === 2;
  await world.expectState("confidential", "having rotated", isNew);
}

describe("secret values", () => {
  test("are in no object that is not a Secret and in no line of the log, also after a refusal that quotes them", async () => {
    const log = winstonLog({ level: "debug", stream: logStream });
    const audit = memoryAuditTrail();
    await share();
    const running = await world.startOperator({ settings: settings(), log, audit, onRequest: quotingRefusal() });
    await register();
    const made = await make(running, log);
    await world.expectPhase("confidential", "ready");
    const first = await seenValues();
    expect(first).toMatchObject(seen);
    expect(Object.keys(first)).toHaveLength(5);
    await rotate();
    const ofPods = [...new Set([...Object.values(first), ...Object.values(await seenValues())])];
    expect(ofPods).toHaveLength(6);
    const tokens = Object.values(credentials).map((credential) => credential.slice(credential.indexOf(":") + 1));
    const values = [...ofPods, ...Object.values(credentials), ...tokens, await wrapped()];
    for (const value of values) expect(value.length).toBeGreaterThanOrEqual(32);

    const lists = await Promise.all(READABLE.map((type) => world.admin.list(type)));
    await world.delete(made);
    await world.expectGone(made);
    const records = await world.admin.list(recordType);
    await running.stop();
    // The line about the refusal must exist; otherwise nothing was tried.
    expect(lines).toContain('"status":422');
    const readable = [...lists, records]
      .map(({ items }) => JSON.stringify(items))
      .concat(lines, JSON.stringify(audit.records));
    const shown = values.flatMap(forms).filter((form) => readable.some((text) => text.includes(form)));
    expect(shown).toEqual([]);
  }, 120_000);
});
