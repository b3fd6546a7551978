import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiTokenSpec, tokenOf } from "../../../crds/api-token.ts";
import type { ApiTokens } from "../../../operator/ports/api-tokens.ts";
import { apiTokenFixture } from "../../support/fixtures/api-token-fixture.ts";
import { unique } from "../../support/plane/people.ts";

export interface ApiTokensWorld {
  readonly apiTokens: ApiTokens;
  stop(): Promise<void>;
}

const WORLD_DEADLINE_MS = 60_000;
const at = (minute: number) => new Date(Date.UTC(2026, 5, 1, 12, minute));

const specOf = (subject: string, more: Partial<ApiTokenSpec> = {}): ApiTokenSpec =>
  apiTokenFixture(
    {
      owner: { subject, email: "", name: "" },
      assertedClaims: { groups: ["developers"], at: at(0).toISOString() },
      ...more,
    },
    tokenOf(randomBytes(32)),
  ).spec;

export function apiTokensSuite(title: string, makeWorld: () => Promise<ApiTokensWorld>): void {
  describe(`ApiTokens: ${title}`, () => {
    let world: ApiTokensWorld;
    beforeAll(async () => {
      world = await makeWorld();
    }, WORLD_DEADLINE_MS);
    afterAll(() => world.stop(), WORLD_DEADLINE_MS);

    const subject = `https://idp.example.test#${unique("sub-")}`;
    const create = (more: Partial<ApiTokenSpec> = {}) => world.apiTokens.create(specOf(subject, more));
    const found = async (id: string) => {
      const token = await world.apiTokens.read(id);
      if (token === undefined) throw new Error(`no token ${id}`);
      return token;
    };

    test("what was made is known at once, by its id and its owner, and listed", async () => {
      const spec = specOf(subject, { description: "x", expiresAt: at(9).toISOString(), keepsValue: true });
      const made = await world.apiTokens.create(spec);
      const id = spec.tokenHash.slice(0, 40);
      expect(made).toMatchObject({ metadata: { name: id, uid: expect.any(String) }, spec });
      expect(await found(id)).toMatchObject({ spec });
      expect(await world.apiTokens.readClaimed(id)).toMatchObject({ spec });
      expect(world.apiTokens.known(id)?.spec).toEqual(spec);
      expect(world.apiTokens.list().map(({ metadata }) => metadata.name)).toContain(id);
      expect(world.apiTokens.ofOwner(subject).map(({ metadata }) => metadata.name)).toContain(id);
      expect(world.apiTokens.ofOwner(`${subject}x`)).toEqual([]);
    });

    test("what does not exist is not found", async () => {
      expect(world.apiTokens.known("0".repeat(40))).toBeUndefined();
      expect(await world.apiTokens.read("0".repeat(40))).toBeUndefined();
      expect(await world.apiTokens.readClaimed("0".repeat(40))).toBeUndefined();
    });

    test("a revocation is for good, and keeps its moment", async () => {
      const made = await create();
      expect((await world.apiTokens.revoke(made, at(1)))?.spec.revokedAt).toBe(at(1).toISOString());
      expect((await world.apiTokens.revoke(made, at(2)))?.spec.revokedAt).toBe(at(1).toISOString());
      expect((await found(made.metadata.name)).spec.revokedAt).toBe(at(1).toISOString());
      expect(world.apiTokens.known(made.metadata.name)?.spec.revokedAt).toBe(at(1).toISOString());
    });

    test("what was said of the owner last holds, in whatever order it comes", async () => {
      const made = await create();
      const assertedClaims = { groups: ["b", "a"], claims: { hd: "example.test" }, at: at(5).toISOString() };
      await world.apiTokens.storeAssertion(made, assertedClaims);
      await world.apiTokens.storeAssertion(made, { groups: ["admins"], at: at(4).toISOString() });
      const { spec } = await found(made.metadata.name);
      expect(spec).toEqual({ ...made.spec, assertedClaims });
      await world.apiTokens.storeAssertion(made, { groups: [], at: at(6).toISOString() });
      expect(world.apiTokens.known(made.metadata.name)?.spec.assertedClaims.groups).toEqual([]);
    });

    test("a use is noted, beside whatever else is changed", async () => {
      const made = await create();
      await world.apiTokens.revoke(made, at(1));
      await world.apiTokens.noteUse(made, at(2));
      const noted = await found(made.metadata.name);
      expect(noted.status).toEqual({ lastUsedAt: at(2).toISOString() });
      expect(noted.spec.revokedAt).toBe(at(1).toISOString());
    });

    test("what was removed is gone, and every change of it is in vain", async () => {
      const made = await create();
      await world.apiTokens.remove(made);
      await world.apiTokens.remove(made);
      expect(world.apiTokens.known(made.metadata.name)).toBeUndefined();
      expect(await world.apiTokens.read(made.metadata.name)).toBeUndefined();
      expect(await world.apiTokens.revoke(made, at(1))).toBeUndefined();
      await world.apiTokens.storeAssertion(made, made.spec.assertedClaims);
      await world.apiTokens.noteUse(made, at(1));
      expect(await world.apiTokens.read(made.metadata.name)).toBeUndefined();
    });

    test("a change never touches another one that came under the same name", async () => {
      const made = await create();
      await world.apiTokens.remove(made);
      const other = await world.apiTokens.create(made.spec);
      expect(other.metadata.uid).not.toBe(made.metadata.uid);
      expect(await world.apiTokens.revoke(made, at(1))).toBeUndefined();
      await world.apiTokens.noteUse(made, at(1));
      await world.apiTokens.remove(made);
      expect(await found(other.metadata.name)).toEqual(other);
    });
  });
}
