import type { SecretManagerServiceClient as GoogleClient, protos } from "@google-cloud/secret-manager";
import { Sensitive } from "../../../crds/sensitive.ts";
import { insteadOf } from "../../kit/client/errors.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { TokenBucket } from "../../kit/time/rate-limits.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { GoogleConnection } from "./connection.ts";

export type GoogleSecret = protos.google.cloud.secretmanager.v1.ISecret;

/** Deadline of a call, instead of the client's own minute. */
const CALL_MS = 10_000;
const PAGE_SIZE = 1_000;

export interface GoogleCallsOptions {
  readonly project: string;
  readonly connection: GoogleConnection;
  readonly mayWrite: () => boolean;
  readonly budget: TokenBucket;
  /** Exclusive to this service: a breaker learns for itself. */
  readonly breaker: CircuitBreaker;
  readonly clock: Clock;
}

export type GoogleCalls = ReturnType<typeof googleCalls>;

/**
 * Calls to Google Secret Manager that share the deadline `untilMs` on the monotonic clock: each with a checksum and a
 * share of the write budget, failing with SecretManagerUnavailable. Secrets are named in full, `projects/<p>/secrets/<id>`.
 */
export function googleCalls(options: GoogleCallsOptions, untilMs: number) {
  const { project, connection, clock } = options;
  const parent = `projects/${project}`;

  async function call<R>(
    what: string,
    run: (client: GoogleClient, options: { timeout: number; retry: null }) => Promise<R>,
    beforehand: () => void = () => undefined,
  ): Promise<R> {
    const fail = (error: unknown) => {
      throw new CallFailed(what, project, error);
    };
    const client = await connection.client().catch(fail);
    const leftMs = Math.floor(untilMs - clock.monotonicMs());
    if (leftMs <= 0) return fail({ code: DEADLINE_EXCEEDED });
    beforehand();
    // No retries by the client: the work queue has them, with backoff.
    return run(client, { timeout: Math.min(CALL_MS, leftMs), retry: null }).catch(fail);
  }
  const write: typeof call = (what, run) => call(what, run, () => spend(options));

  return {
    nameOf: (id: string) => `${parent}/secrets/${id}`,
    /** The created secret; `undefined` when the id exists. */
    create: (secretId: string, secret: GoogleSecret) =>
      write(`create '${secretId}'`, async (client, options) => {
        const [created] = await client.createSecret({ parent, secretId, secret }, options);
        return created as GoogleSecret;
      }).catch(insteadOf(hasCode(ALREADY_EXISTS), undefined)),
    find: (name: string) =>
      call(`get ${shortly(name)}`, async (client, options) => {
        const [found] = await client.getSecret({ name }, options);
        return found as GoogleSecret;
      }).catch(insteadOf(hasCode(NOT_FOUND), undefined)),
    /** All matches of the filter (https://cloud.google.com/secret-manager/docs/filtering), page by page. */
    async list(filter: string): Promise<readonly GoogleSecret[]> {
      const secrets: GoogleSecret[] = [];
      let pageToken = "";
      do {
        const request = { parent, filter, pageSize: PAGE_SIZE, pageToken };
        // By page, so that each page has the deadline.
        const [page, , answer] = await call("list secrets", (client, options) =>
          client.listSecrets(request, { ...options, autoPaginate: false }),
        );
        secrets.push(...page);
        pageToken = answer?.nextPageToken ?? "";
      } while (pageToken !== "");
      return secrets;
    },
    /** Sets the aliases of the version read; false when it has changed since. */
    setAliases: ({ name, etag }: GoogleSecret, versionAliases: Record<string, number>) =>
      write(`name a version of ${shortly(name)}`, async (client, options) => {
        const secret = { name: name ?? "", etag: etag ?? "", versionAliases };
        await client.updateSecret({ secret, updateMask: { paths: ["version_aliases"] } }, options);
        return true;
      }).catch(insteadOf(hasCode(FAILED_PRECONDITION), false)),
    /** Adds a version unconditionally, and answers its number. */
    add: (name: string, value: Sensitive) =>
      write(`add a version to ${shortly(name)}`, async (client, options) => {
        const data = Buffer.from(value.reveal());
        const payload = { data, dataCrc32c: crc32c(data) };
        const [added] = await client.addSecretVersion({ parent: name, payload }, options);
        return numberIn(added.name);
      }),
    /** Value and number of a version; `undefined` without it. */
    async access(name: string, version: number | "latest") {
      const answer = await call(`read version ${version} of ${shortly(name)}`, async (client, options) => {
        const [accessed] = await client.accessSecretVersion({ name: `${name}/versions/${version}` }, options);
        return accessed;
      }).catch(insteadOf(hasCode(NOT_FOUND), undefined));
      return answer && { number: numberIn(answer.name), value: checkedValue(answer) };
    },
    /** Fine when it is gone. */
    remove: (name: string) =>
      write(`delete ${shortly(name)}`, async (client, options) => {
        await client.deleteSecret({ name }, options);
      }).catch(insteadOf(hasCode(NOT_FOUND), undefined)),
  };
}

/** Counts a write against the quota that a whole project shares. */
function spend({ mayWrite, budget }: GoogleCallsOptions): void {
  const refuse = (why: string) => {
    throw new SecretManagerUnavailable(`Google Secret Manager: ${why}`);
  };
  if (!mayWrite()) refuse("this process does not lead, and writes nothing");
  if (!budget.take()) refuse("the writes allowed for now are used up");
}

function shortly(name: string | null | undefined): string {
  return `'${name?.slice(name.lastIndexOf("/") + 1)}'`;
}

function numberIn(versionName: string | null | undefined): number {
  return Number(versionName?.slice(versionName.lastIndexOf("/") + 1));
}

function checkedValue(answer: protos.google.cloud.secretmanager.v1.IAccessSecretVersionResponse): Sensitive {
  const { data, dataCrc32c } = answer.payload ?? {};
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : Buffer.from(data ?? []);
  // The checksum may be a number, a string or a Long.
  if (dataCrc32c !== null && dataCrc32c !== undefined && String(dataCrc32c) !== String(crc32c(bytes))) {
    throw new SecretManagerUnavailable("Google Secret Manager's answer was damaged on its way: its checksum differs");
  }
  return new Sensitive(bytes.toString("utf8"));
}

/** Castagnoli's polynomial, bit-reversed. */
const POLYNOMIAL = 0x82f63b78;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ POLYNOMIAL : remainder >>> 1;
  return remainder;
});

/** Unsigned CRC32C, Google's checksum of payloads. Node's zlib has only the other CRC-32. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** gRPC status codes with a meaning here. */
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;

/** A failed call, with its code. */
class CallFailed extends SecretManagerUnavailable {
  readonly code: number | undefined;

  // No `cause` either: a server's message, and the client's additions, may quote sent values.
  constructor(what: string, project: string, error: unknown) {
    const code = codeOf(error);
    const meaning = meaningOf(code, project);
    // Every caller sees an outage: its message must name no object.
    const isAway = code === DEADLINE_EXCEEDED || code === UNAVAILABLE;
    super(isAway ? `Google Secret Manager: ${meaning}` : `Google Secret Manager can't ${what}: ${meaning}`);
    this.code = code;
  }
}

function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" ? code : undefined;
}

/** Meaning of a gRPC status code (https://grpc.io/docs/guides/status-codes/). */
function meaningOf(code: number | undefined, project: string): string {
  switch (code) {
    case undefined:
      return "the call could not be made; are there Google credentials for the platform?";
    case 3:
    case FAILED_PRECONDITION:
      return `it is refused in project '${project}' (code ${code}): a disabled or destroyed version, or an organisation policy`;
    case DEADLINE_EXCEEDED:
      return "no answer in time";
    case 7:
      return `permission denied: the platform's identity lacks rights in project '${project}', or there is no such project`;
    case 8:
      return `the quota of project '${project}' is used up`;
    case UNAVAILABLE:
      return "it can't be reached";
    case 16:
      return "the platform's credentials are not accepted";
    default:
      return `it failed with code ${code}`;
  }
}

/** True for a call that failed with this code. */
const hasCode = (code: number) => (error: unknown) => error instanceof CallFailed && error.code === code;
