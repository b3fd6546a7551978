import type { protos } from "@google-cloud/secret-manager";
import { Sensitive } from "../../crds/sensitive.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { bulkhead } from "./bulkhead.ts";
import { crc32c } from "./crc32c.ts";
import { ALREADY_EXISTS, CallFailed, FAILED_PRECONDITION, ifCode, NOT_FOUND } from "./google-call-failures.ts";
import type { GoogleClient, GoogleConnection } from "./google-connection.ts";
import type { WriteBudget } from "./write-budget.ts";

export type GoogleSecret = protos.google.cloud.secretmanager.v1.ISecret;

/** Not the client's own minute; and no retries of its own: the work queue has them, with backoff. */
const CALL_OPTIONS = { timeout: 10_000, retry: null };
/** Page by page, so that the deadline is each page's. */
const LIST_OPTIONS = { ...CALL_OPTIONS, autoPaginate: false };
const PAGE_SIZE = 1_000;

export interface GoogleCallsOptions {
  /** Google Cloud project that the secrets are in. */
  readonly project: string;
  readonly connection: GoogleConnection;
  readonly budget: WriteBudget;
}

/**
 * Google Secret Manager's calls as this platform needs them: each with a deadline, checked by checksum, counted against
 * the write budget, and failing with SecretManagerUnavailable. Secrets are named in full, `projects/<p>/secrets/<id>`.
 */
export interface GoogleCalls {
  /** The full name of an id. */
  nameOf(id: string): string;
  /** `undefined` when there is one of that id. */
  create(id: string, secret: GoogleSecret): Promise<GoogleSecret | undefined>;
  find(name: string): Promise<GoogleSecret | undefined>;
  /** All that match the filter (https://cloud.google.com/secret-manager/docs/filtering), page by page. */
  list(filter: string): Promise<readonly GoogleSecret[]>;
  /** Sets the aliases of the secret that was read, unless it has changed since: then false. */
  setAliases(secret: GoogleSecret, aliases: Record<string, number>): Promise<boolean>;
  /** Adds a version whatever is there, and answers its number. */
  add(name: string, value: Sensitive): Promise<number>;
  /** A version's value and number; `undefined` when there is no such version. */
  access(name: string, version: number | "latest"): Promise<{ number: number; value: Sensitive } | undefined>;
  /** Nothing there is fine. */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

export function googleCalls({ project, connection, budget }: GoogleCallsOptions): GoogleCalls {
  const parent = `projects/${project}`;
  const oneAtATimeWhileAway = bulkhead();
  /** One call, its failure told in our words. `isWrite` counts it against the quota that a whole project shares. */
  async function call<R>(what: string, run: (client: GoogleClient) => Promise<R>, isWrite = false): Promise<R> {
    if (isWrite && !budget.take()) {
      throw new SecretManagerUnavailable("Google Secret Manager: the writes allowed for now are used up");
    }
    try {
      return await oneAtATimeWhileAway(async () => run(await connection.client()));
    } catch (error) {
      throw new CallFailed(what, project, error);
    }
  }
  const write = <R>(what: string, run: (client: GoogleClient) => Promise<R>) => call(what, run, true);

  return {
    nameOf: (id) => `${parent}/secrets/${id}`,
    create: (secretId, secret) =>
      write(`create '${secretId}'`, async (client) => {
        const [created] = await client.createSecret({ parent, secretId, secret }, CALL_OPTIONS);
        return created;
      }).catch(ifCode(ALREADY_EXISTS, undefined)),
    find: (name) =>
      call(`get ${shortly(name)}`, async (client) => {
        const [found] = await client.getSecret({ name }, CALL_OPTIONS);
        return found;
      }).catch(ifCode(NOT_FOUND, undefined)),
    async list(filter) {
      const secrets: GoogleSecret[] = [];
      let pageToken = "";
      do {
        const request = { parent, filter, pageSize: PAGE_SIZE, pageToken };
        const [page, , answer] = await call("list secrets", (client) => client.listSecrets(request, LIST_OPTIONS));
        secrets.push(...page);
        pageToken = answer?.nextPageToken ?? "";
      } while (pageToken !== "");
      return secrets;
    },
    setAliases: ({ name, etag }, versionAliases) =>
      write(`name a version of ${shortly(name)}`, async (client) => {
        const secret = { name: name ?? "", etag: etag ?? "", versionAliases };
        await client.updateSecret({ secret, updateMask: { paths: ["version_aliases"] } }, CALL_OPTIONS);
        return true;
      }).catch(ifCode(FAILED_PRECONDITION, false)),
    add: (name, value) =>
      write(`add a version to ${shortly(name)}`, async (client) => {
        const data = Buffer.from(value.reveal());
        const payload = { data, dataCrc32c: crc32c(data) };
        const [added] = await client.addSecretVersion({ parent: name, payload }, CALL_OPTIONS);
        return numberOf(added.name);
      }),
    access: async (name, version) => {
      const answer = await call(`read version ${version} of ${shortly(name)}`, async (client) => {
        const [accessed] = await client.accessSecretVersion({ name: `${name}/versions/${version}` }, CALL_OPTIONS);
        return accessed;
      }).catch(ifCode(NOT_FOUND, undefined));
      return answer && { number: numberOf(answer.name), value: checkedValue(answer) };
    },
    remove: (name) =>
      write(`delete ${shortly(name)}`, async (client) => {
        await client.deleteSecret({ name }, CALL_OPTIONS);
      }).catch(ifCode(NOT_FOUND, undefined)),
    close: () => connection.close(),
  };
}

/** The id at the end of `projects/<p>/secrets/<id>`, quoted. */
function shortly(name: string | null | undefined): string {
  return `'${name?.slice(name.lastIndexOf("/") + 1)}'`;
}

/** The number at the end of `projects/<p>/secrets/<id>/versions/<number>`. */
function numberOf(versionName: string | null | undefined): number {
  return Number(versionName?.slice(versionName.lastIndexOf("/") + 1));
}

function checkedValue(answer: protos.google.cloud.secretmanager.v1.IAccessSecretVersionResponse): Sensitive {
  const { data, dataCrc32c } = answer.payload ?? {};
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : Buffer.from(data ?? []);
  // The checksum comes as a number, a string or a Long.
  if (dataCrc32c !== null && dataCrc32c !== undefined && String(dataCrc32c) !== String(crc32c(bytes))) {
    throw new SecretManagerUnavailable("Google Secret Manager's answer was damaged on its way: its checksum differs");
  }
  return new Sensitive(bytes.toString("utf8"));
}
