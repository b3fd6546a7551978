import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createWanted } from "../../../api/intake/creation.ts";
import { settingsFrom } from "../../../config/settings.ts";
import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  environmentKind,
} from "../../../crds/ephemeral-environment.ts";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import {
  applicationKind,
  appProjectKind,
  environmentType,
  recordType,
  secretKind,
  type WireObject,
} from "../../../operator/kinds.ts";
import { type ResourceType, resourceType } from "../../../operator/kit/kube-object.ts";
import type { KubeRequest, RequestSeam } from "../../../operator/kit/kube-request.ts";
import { type Log, winstonLog } from "../../../operator/kit/log.ts";
import { createWorld, type RunningOperator, type World } from "../../support/environment-world.ts";
import { testSettings } from "../../support/platform-chart.ts";

const kind = (group: string, kindName: string, plural: string) =>
  resourceType<WireObject>({ group, version: "v1", kind: kindName, plural, namespaced: true });

/** Whatever somebody without a right on Secrets may read. */
const READABLE: readonly ResourceType<WireObject>[] = [
  resourceType<WireObject>(environmentKind),
  applicationKind,
  appProjectKind,
  kind("", "Event", "events"),
  kind("events.k8s.io", "Event", "events"),
  kind("", "ConfigMap", "configmaps"),
];

let world: World;
let lines = "";
beforeAll(async () => {
  world = await createWorld();
}, 60_000);
afterAll(() => world.stop(), 60_000);

/** Refuses the first Secret of the pods as an API server would that quotes what it was sent. */
function quotingRefusal(): RequestSeam {
  let refused = false;
  return async (request, next) => {
    if (refused || !isPodSecret(request)) return next();
    refused = true;
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

/** A value as it could have been written somewhere: as it is, encoded for a Secret, or for a URL or a form. */
function forms(value: string): string[] {
  const base64 = Buffer.from(value).toString("base64");
  const url = Buffer.from(value).toString("base64url");
  return [value, base64, base64.replace(/=+$/, ""), url, encodeURIComponent(value), encodeURIComponent(base64)];
}

const settings = settingsFrom({ ...testSettings, secrets: { shared: [{ ids: ["mail-key"], groups: ["shop"] }] } });
const source = { branch: "main", commit: "b".repeat(40) };
const spec: EnvironmentSpec = {
  backend: { repository: "test-backend", ...source },
  frontend: { repository: "confidential-web", ...source },
  secrets: { provided: ["STRIPE_KEY"] },
  overrides: { backend: { env: [{ name: "MAIL_KEY", secretRef: { name: "mail-key", key: "latest" } }] } },
  access: { groups: ["shop"] },
};
const given = { STRIPE_KEY: "sk_test_given-with-the-creation:/+?=", MAIL_KEY: "mail_shared-in-the-secret-manager&%" };

async function share(): Promise<void> {
  const metadata = { name: "mail-key", namespace: "ephemeral-secrets", labels: { [SHARED_SECRET_LABEL]: "true" } };
  await world.admin.create(secretKind, { metadata, data: { "1": Buffer.from(given.MAIL_KEY).toString("base64") } });
}

/** As the REST interface does it. */
async function make({ operator }: RunningOperator, log: Log): Promise<EphemeralEnvironment> {
  const { environments, secretManager } = operator.ports;
  const provided = new Map([["STRIPE_KEY", new Sensitive(given.STRIPE_KEY)]]);
  return createWanted({ name: "confidential", spec, provided }, { environments, secretManager, log });
}

/** What the pods see, by variable. */
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
    const running = await world.startOperator({ settings, log, onRequest: quotingRefusal() });
    await world.register("confidential-web", { type: "frontend" });
    await share();
    const made = await make(running, log);
    await world.expectPhase("confidential", "ready");
    const first = await seenValues();
    expect(first).toMatchObject(given);
    expect(Object.keys(first)).toHaveLength(5);
    await rotate();
    const values = [...new Set([...Object.values(first), ...Object.values(await seenValues())])];
    expect(values).toHaveLength(6);
    for (const value of values) expect(value.length).toBeGreaterThanOrEqual(32);

    const lists = await Promise.all(READABLE.map((type) => world.admin.list(type)));
    await world.delete(made);
    await world.expectGone(made);
    const records = await world.admin.list(recordType);
    await running.stop();
    // The line about the refusal itself must be there, or nothing was tried.
    expect(lines).toContain('"status":422');
    const readable = [...lists, records].map(({ items }) => JSON.stringify(items)).concat(lines);
    const shown = values.flatMap(forms).filter((form) => readable.some((text) => text.includes(form)));
    expect(shown).toEqual([]);
  }, 120_000);
});
