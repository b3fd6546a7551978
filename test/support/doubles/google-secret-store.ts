import { crc32c } from "../../../operator/adapters/google/secret-calls.ts";

/** The used gRPC status codes. */
export const codes = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNAVAILABLE: 14,
} as const;

export function grpcError(code: number, details: string): Error {
  return Object.assign(new Error(details), { code, details });
}

interface Version {
  readonly data: Buffer;
  state: "ENABLED" | "DISABLED";
}

export interface Secret {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly replication: object;
  readonly createTime: { readonly seconds: string; readonly nanos: number };
  readonly versions: Version[];
  versionAliases: Record<string, string>;
  etag: string;
}

const LABEL_KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const ANNOTATION_KEY = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Requests as on the wire: camel case, 64-bit numbers as strings. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is the protocol's, decoded from its own definition.
export type WireRequest = any;

/**
 * Storage and errors of Google Secret Manager for one project: ids, labels, annotations, replication, etags, aliases,
 * checksums. One method per call; each answers the response or throws a `grpcError`.
 *
 * Like the real one, only reads of a version by number are consistent: `lag` makes lists, or lists and reads of secrets,
 * return old data.
 */
export function googleSecretStore(project: string) {
  const secrets = new Map<string, Secret>();
  let etags = 0;
  let listed: ReadonlyMap<string, Secret> = secrets;
  let looked: ReadonlyMap<string, Secret> = secrets;
  const nextEtag = () => {
    etags += 1;
    return `"${etags}"`;
  };

  function held(name: string, among: ReadonlyMap<string, Secret> = secrets): Secret {
    const found = among.get(name);
    if (found === undefined) throw grpcError(codes.NOT_FOUND, `Secret [${name}] not found.`);
    return found;
  }

  function versionOf({ versions, versionAliases }: Secret, version: string): [number, Version] {
    const number = version === "latest" ? versions.length : Number(versionAliases[version] ?? version);
    const found = versions[number - 1];
    if (found === undefined) throw grpcError(codes.NOT_FOUND, `Secret Version [${version}] not found.`);
    return [number, found];
  }

  function parent(request: WireRequest): void {
    if (request.parent === `projects/${project}`) return;
    throw grpcError(codes.PERMISSION_DENIED, `Permission denied on resource project ${request.parent}.`);
  }

  return {
    secrets,
    /** Applies until changed; reads of versions never lag. */
    lag(what: "nothing" | "lists" | "lists and looks"): void {
      const before = new Map([...secrets].map(([name, secret]) => [name, { ...secret }]));
      listed = what === "nothing" ? secrets : before;
      looked = what === "lists and looks" ? before : secrets;
    },
    createSecret(request: WireRequest): Secret {
      parent(request);
      const name = `${request.parent}/secrets/${request.secretId}`;
      checkSecret(request);
      if (secrets.has(name)) throw grpcError(codes.ALREADY_EXISTS, `Secret [${name}] already exists.`);
      const { labels, annotations, replication } = request.secret;
      const createTime = { seconds: String(Math.floor(Date.now() / 1000)), nanos: etags };
      const made = { name, labels, annotations, replication, createTime, versions: [], versionAliases: {} };
      secrets.set(name, { ...made, etag: nextEtag() });
      return held(name);
    },
    getSecret: (request: WireRequest): Secret => ({ ...held(request.name, looked) }),
    updateSecret({ secret, updateMask }: WireRequest): Secret {
      const found = held(secret.name);
      if (secret.etag !== "" && secret.etag !== found.etag) {
        throw grpcError(codes.FAILED_PRECONDITION, "The etag provided does not match the current etag.");
      }
      if (String(updateMask.paths) !== "version_aliases") throw grpcError(codes.INVALID_ARGUMENT, "Unknown path.");
      for (const number of checkedAliases(secret.versionAliases)) versionOf(found, number);
      Object.assign(found, { versionAliases: secret.versionAliases, etag: nextEtag() });
      return found;
    },
    deleteSecret(request: WireRequest): object {
      held(request.name);
      secrets.delete(request.name);
      return {};
    },
    listSecrets(request: WireRequest): { secrets: Secret[]; nextPageToken: string; totalSize: number } {
      parent(request);
      const found = [...listed.values()].filter(matching(request.filter));
      const from = Number(request.pageToken || "0");
      const size = Math.min(request.pageSize || 25, 25_000);
      const nextPageToken = from + size < found.length ? String(from + size) : "";
      return { secrets: found.slice(from, from + size), nextPageToken, totalSize: found.length };
    },
    addSecretVersion(request: WireRequest): object {
      const found = held(request.parent);
      const { data, dataCrc32c } = request.payload;
      if (data.length > 65_536) throw grpcError(codes.INVALID_ARGUMENT, "The payload is too large.");
      if (dataCrc32c !== String(crc32c(data))) throw grpcError(codes.INVALID_ARGUMENT, "The checksum does not match.");
      found.versions.push({ data, state: "ENABLED" });
      return { name: `${found.name}/versions/${found.versions.length}`, state: "ENABLED" };
    },
    accessSecretVersion(request: WireRequest): { name: string; payload: { data: Buffer; dataCrc32c: string } } {
      const [name = "", version = ""] = request.name.split("/versions/");
      const [number, { data, state }] = versionOf(held(name), version);
      if (state !== "ENABLED") throw grpcError(codes.FAILED_PRECONDITION, `Version is in ${state} state.`);
      return { name: `${name}/versions/${number}`, payload: { data, dataCrc32c: String(crc32c(data)) } };
    },
  };
}
export type GoogleSecretStore = ReturnType<typeof googleSecretStore>;

function checkSecret({ secretId, secret }: WireRequest): void {
  const { replication, labels, annotations } = secret;
  const problems = [
    !/^[A-Za-z0-9_-]{1,255}$/.test(secretId) && "the id",
    !replication?.automatic && !replication?.userManaged?.replicas?.length && "the replication",
    (Object.keys(labels).length > 64 || Object.entries<string>(labels).some(isBadLabel)) && "the labels",
    (JSON.stringify(annotations).length > 8_192 || !Object.keys(annotations).every(isAnnotationKey)) &&
      "the annotations",
  ].filter(Boolean);
  if (problems.length > 0) throw grpcError(codes.INVALID_ARGUMENT, `Not valid: ${problems.join(", ")}.`);
}

function isBadLabel([key, value]: [string, string]): boolean {
  return !LABEL_KEY.test(key) || !LABEL_VALUE.test(value);
}

function isAnnotationKey(key: string): boolean {
  return ANNOTATION_KEY.test(key);
}

function checkedAliases(aliases: Record<string, string>): string[] {
  const names = Object.keys(aliases);
  if (names.length > 50 || names.some((name) => !/^[A-Za-z][A-Za-z0-9_-]{0,62}$/.test(name))) {
    throw grpcError(codes.INVALID_ARGUMENT, "Not valid: the version aliases.");
  }
  return Object.values(aliases);
}

/** Supports `labels.<key>=<value>` and AND; any other filter is refused, so that none silently matches all. */
function matching(filter: string): (secret: Secret) => boolean {
  const terms = filter === "" ? [] : filter.split(" AND ");
  const required = terms.map((term) => {
    const [, key, value] = /^labels\.([a-z_-]+)=([a-z0-9_-]+)$/.exec(term) ?? [];
    if (key === undefined) throw grpcError(codes.INVALID_ARGUMENT, `Not a valid filter: ${filter}`);
    return { key, value };
  });
  return ({ labels }) => required.every(({ key, value }) => labels[key] === value);
}
