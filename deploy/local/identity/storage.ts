import type { Adapter, AdapterConstructor, AdapterPayload } from "oidc-provider";

interface Entry {
  readonly payload: AdapterPayload;
  readonly expiresAt: number;
}

/**
 * The provider's state between requests (sessions, codes, refresh tokens), in memory: a restart asks people to
 * log in again. Each provider gets its own. https://github.com/panva/node-oidc-provider/blob/main/example/my_adapter.js
 */
export function memoryStorage(): AdapterConstructor {
  const entries = new Map<string, Entry>();
  const read = (key: string) => {
    const entry = entries.get(key);
    if (entry && entry.expiresAt <= Date.now()) entries.delete(key);
    return entries.get(key)?.payload;
  };
  const search = (kind: string, matches: (payload: AdapterPayload) => boolean) =>
    [...entries.keys()]
      .filter((key) => key.startsWith(`${kind}:`))
      .map(read)
      .find((payload) => payload && matches(payload));

  return class implements Adapter {
    readonly #kind: string;

    constructor(kind: string) {
      this.#kind = kind;
    }

    async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
      const lifetimeMs = expiresIn ? expiresIn * 1000 : Number.POSITIVE_INFINITY;
      entries.set(`${this.#kind}:${id}`, { payload, expiresAt: Date.now() + lifetimeMs });
    }

    async find(id: string): Promise<AdapterPayload | undefined> {
      return read(`${this.#kind}:${id}`);
    }

    async findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return search(this.#kind, (payload) => payload.uid === uid);
    }

    async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
      return search(this.#kind, (payload) => payload.userCode === userCode);
    }

    async consume(id: string): Promise<void> {
      const payload = read(`${this.#kind}:${id}`);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
    }

    async destroy(id: string): Promise<void> {
      entries.delete(`${this.#kind}:${id}`);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, { payload }] of entries) if (payload.grantId === grantId) entries.delete(key);
    }
  };
}
