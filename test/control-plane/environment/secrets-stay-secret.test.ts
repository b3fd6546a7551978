import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { environmentKind } from "../../../crds/ephemeral-environment.ts";
import { applicationKind, appProjectKind, secretKind, type WireObject } from "../../../operator/kinds.ts";
import { type ResourceType, resourceType } from "../../../operator/kit/kube-object.ts";
import type { KubeRequest, RequestSeam } from "../../../operator/kit/kube-request.ts";
import { winstonLog } from "../../../operator/kit/log.ts";
import { createWorld, podSecretRef, type World } from "../../support/environment-world.ts";

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
let log = "";
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
    log += String(chunk);
    written();
  },
});

/** A value as it could have been written somewhere: as it is, encoded for a Secret, or for a URL or a form. */
function forms(value: string): string[] {
  const base64 = Buffer.from(value).toString("base64");
  const url = Buffer.from(value).toString("base64url");
  return [value, base64, base64.replace(/=+$/, ""), url, encodeURIComponent(value), encodeURIComponent(base64)];
}

async function generatedValues(): Promise<string[]> {
  const secret = await world.admin.find(secretKind, podSecretRef("confidential"));
  const encoded = Object.values((secret?.data ?? {}) as Record<string, string>);
  return encoded.map((value) => Buffer.from(value, "base64").toString("utf8"));
}

describe("generated values", () => {
  test("are in no object that is not a Secret and in no line of the log, also after a refusal that quotes them", async () => {
    const { stop } = await world.startOperator({
      log: winstonLog({ level: "debug", stream: logStream }),
      onRequest: quotingRefusal(),
    });
    await world.register("confidential-web", { type: "frontend" });
    const source = { branch: "main", commit: "b".repeat(40) };
    const made = await world.create("confidential", {
      backend: { repository: "test-backend", ...source },
      frontend: { repository: "confidential-web", ...source },
    });
    await world.expectPhase("confidential", "ready");
    const values = await generatedValues();
    expect(values).toHaveLength(3);
    for (const value of values) expect(value.length).toBeGreaterThanOrEqual(32);

    const lists = await Promise.all(READABLE.map((type) => world.admin.list(type)));
    await world.delete(made);
    await world.expectGone(made);
    await stop();
    // The line about the refusal itself must be there, or nothing was tried.
    expect(log).toContain('"status":422');
    const readable = [...lists.map(({ items }) => JSON.stringify(items)), log];
    const shown = values.flatMap(forms).filter((form) => readable.some((text) => text.includes(form)));
    expect(shown).toEqual([]);
  }, 120_000);
});
