import { secretStoreName } from "../../../../crds/names.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";
import type { Owner } from "../../../../operator/ports/cluster.ts";
import {
  type SecretManager,
  SecretManagerUnavailable,
  type SecretRequest,
  type StoredSecret,
} from "../../../../operator/ports/secret-manager.ts";

export interface MemorySecretManager extends SecretManager {
  /** Creates a secret without an owner, with the values as its versions from 1 on. */
  share(secret: { id: string; labels: Record<string, string>; values: readonly string[] }): void;
  setReachable(reachable: boolean): void;
  /** Reads of secrets without an owner: `shared <id>` and `read <id>`. */
  readonly looks: readonly string[];
}

interface Entries {
  readonly owner: Owner;
  readonly since: Date;
  until: Date;
  /** Values by variable and version, as `<VARIABLE>.<version>`. */
  readonly values: Map<string, Sensitive>;
}

/** Secrets without a manager; fulfils `secretManagerSuite`. */
export function memorySecretManager(now: () => Date = () => new Date()): MemorySecretManager {
  const byUid = new Map<string, Entries>();
  const sharedById = new Map<string, { labels: Record<string, string>; values: readonly Sensitive[] }>();
  const looks: string[] = [];
  let isReachable = true;
  const reach = () => {
    if (!isReachable) throw new SecretManagerUnavailable("the secret manager is away");
  };

  return {
    looks,
    async ensure(owner, requests) {
      reach();
      const additions = requests.filter(({ generate }) => generate !== undefined);
      const at = now();
      const entries = byUid.get(owner.uid) ?? { owner, since: at, until: at, values: new Map<string, Sensitive>() };
      if (additions.length > 0) byUid.set(owner.uid, entries);
      const before = entries.values.size;
      const stored = new Map(requests.flatMap((request) => kept(entries.values, request)));
      if (entries.values.size > before) entries.until = at;
      return stored;
    },
    async remove({ uid }) {
      reach();
      byUid.delete(uid);
    },
    async holdsAny({ uid }) {
      reach();
      return byUid.has(uid);
    },
    async shared(id) {
      looks.push(`shared ${id}`);
      reach();
      const found = sharedById.get(id);
      return found && { labels: found.labels };
    },
    async read(id, version) {
      looks.push(`read ${id}`);
      reach();
      const values = sharedById.get(id)?.values ?? [];
      const resolvedVersion = version === "latest" ? values.length : version;
      const value = values[resolvedVersion - 1];
      return value && { version: resolvedVersion, value };
    },
    async owners(isKnown) {
      reach();
      const unknown = [...byUid.values()].filter(({ owner }) => !isKnown(owner.uid));
      return unknown.map(({ owner, since, until }) => ({ ...owner, since, until }));
    },
    close: async () => undefined,
    share({ id, labels, values }) {
      sharedById.set(id, { labels, values: values.map((value) => new Sensitive(value)) });
    },
    setReachable(reachable) {
      isReachable = reachable;
    },
  };
}

function kept(
  values: Map<string, Sensitive>,
  { name, version, generate }: SecretRequest,
): (readonly [string, StoredSecret])[] {
  const key = `${name}.${version}`;
  const value = values.get(key) ?? generate?.();
  if (value === undefined) return [];
  values.set(key, value);
  return [[name, { version, value }]];
}

export const memorySecretId = (owner: Owner, variable: string) => `${secretStoreName(owner)}-${variable}`;
