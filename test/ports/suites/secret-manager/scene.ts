import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "@jest/globals";
import { Sensitive } from "../../../../crds/sensitive.ts";
import type { Owner } from "../../../../operator/ports/cluster.ts";
import type { SecretManager, SecretRequest } from "../../../../operator/ports/secret-manager.ts";

export interface SecretManagerWorld {
  /** Two clients of the same store, as in two replicas. */
  readonly managers: readonly [SecretManager, SecretManager];
  /** Creates a secret without an owner, with the values as its versions from 1 on. */
  share(secret: { id: string; labels: Record<string, string>; values: readonly string[] }): Promise<void>;
  /** The manager's id of a variable's entry. */
  idOf(owner: Owner, variable: string): string;
  stop(): Promise<void>;
}

let counter = 0;

export function newOwner(name = `owner-${++counter}`): Owner {
  return { name, uid: randomUUID() };
}

/** Selects all owners. */
export const noOwner = () => false;

/** Requests the first version of variables; every call of `generate` makes another value. */
export function generatedRequests(...names: string[]) {
  const generated: string[] = [];
  const requests = names.map((name) => ({
    name,
    version: 1,
    generate: () => {
      const value = `${name}-${randomUUID()}`;
      generated.push(value);
      return new Sensitive(value);
    },
  }));
  return { requests, generated: () => generated };
}

/** Requests one version of a variable: with a value it is created if missing, without one it is only read. */
export function requested(name: string, version: number, value?: string): SecretRequest[] {
  return [{ name, version, ...(value === undefined ? {} : { generate: () => new Sensitive(value) }) }];
}

/** Plain values, for comparing. */
export function revealed(stored: ReadonlyMap<string, { value: Sensitive }>): Record<string, string> {
  return Object.fromEntries([...stored].map(([name, { value }]) => [name, value.reveal()]));
}

/** Two managers of the same secrets that live as long as the suite. */
export function secretManagerScene(makeWorld: () => Promise<SecretManagerWorld>) {
  let world: SecretManagerWorld;
  let manager: SecretManager;
  let other: SecretManager;

  beforeAll(async () => {
    world = await makeWorld();
    [manager, other] = world.managers;
  }, 60_000);
  afterAll(() => world.stop(), 30_000);

  return {
    get world() {
      return world;
    },
    get manager() {
      return manager;
    },
    get other() {
      return other;
    },
  };
}

export type SecretManagerScene = ReturnType<typeof secretManagerScene>;
