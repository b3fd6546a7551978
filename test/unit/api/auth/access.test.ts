import { describe, expect, test } from "@jest/globals";
import { narrowed, permissionsOf, type Role, rolesOf, scopesBeyond, visibleTo } from "../../../../api/auth/access.ts";
import { callerOf } from "../../../../api/auth/callers.ts";
import { settingsFrom } from "../../../../config/settings.ts";
import { SCOPES, type Scope } from "../../../../crds/api-token.ts";
import type { EnvironmentSpec } from "../../../../crds/environment/ephemeral-environment.ts";

const settings = settingsFrom({
  baseDomain: "x",
  defaultChart: { repoUrl: "https://x", path: "x", revision: "x" },
  api: {
    issuers: [
      {
        issuer: "https://idp",
        audience: "x",
        groupsPrefix: "i:",
        roles: { viewer: ["i:v"], developer: ["i:d", "i:d2"], maintainer: ["i:m"], admin: ["i:a"] },
      },
      {
        issuer: "https://idp/partner",
        audience: "x",
        groupsPrefix: "p:",
        requiredClaims: { hd: ["p.test"] },
        roles: { viewer: ["p:guests"] },
        defaultRole: "developer",
      },
    ],
  },
});
const someone = {
  issuer: "https://idp",
  email: "same@example.test",
  name: "",
  issuedAt: new Date("2026-06-01T12:00:00Z"),
  expiresAt: new Date("2026-06-01T13:00:00Z"),
};
const person = (sub: string, ...groups: string[]) => callerOf({ ...someone, sub, groups, claims: {} }, settings);

describe("roles", () => {
  test.each<[string[], Role[]]>([
    [[], []],
    [["unknown"], []],
    [["v"], []],
    [["i:v"], ["viewer"]],
    [
      ["i:d2", "i:v"],
      ["viewer", "developer"],
    ],
    [["i:a"], ["admin"]],
  ])("of %j are %j", (groups, roles) => {
    expect(rolesOf({ subject: "https://idp#s", groups }, settings)).toEqual(roles);
  });

  // Abuse case 105.
  test.each<[string, string, string[], Role[]]>([
    ["no group: the default role", "https://idp/partner#s", [], ["developer"]],
    ["no mapped group: the default role", "https://idp/partner#s", ["p:team"], ["developer"]],
    ["a mapped group: its role alone", "https://idp/partner#s", ["p:guests"], ["viewer"]],
    ["another issuer's group: nothing of it", "https://idp/partner#s", ["i:a"], ["developer"]],
    ["an issuer that is trusted no more: none", "https://former#s", ["i:a", "p:guests"], []],
    ["an issuer whose name only begins alike: none", "https://idp/p#s", ["i:a"], []],
    ["no issuer: none", "s", ["i:a"], []],
  ])("of a caller with %s", (_what, subject, groups, roles) => {
    expect(rolesOf({ subject, groups }, settings)).toEqual(roles);
  });

  const viewer = ["environments:read", "configs:read", "repos:read", "observability:read", "insights:read"];
  const developer = [...viewer, "environments:create", "environments:update", "environments:delete", "tokens:manage"];
  const maintainer = [...developer, "environments:all", "configs:write", "repos:reload", "webhooks:manage"];
  const admin = [...maintainer, "tokens:all"];
  test.each<[Role[], string[]]>([
    [[], []],
    [["viewer"], viewer],
    [["developer"], developer],
    [["maintainer"], maintainer],
    [["admin"], admin],
    [["admin", "viewer"], admin],
  ])("%j may %j", (roles, permissions) => {
    expect([...permissionsOf(roles)]).toEqual(permissions);
  });
});

describe("the scopes of a token", () => {
  const manage = ["environments:read", "environments:create", "environments:update", "environments:delete"];
  test.each<[string, Role, Scope[], string[]]>([
    ["all that is done with environments", "developer", ["ENV_CREATE"], manage],
    ["the same in its other spelling", "developer", ["environments:create"], manage],
    ["reading them", "developer", ["ENV_READ"], ["environments:read"]],
    ["the same in its other spelling", "developer", ["environments:read"], ["environments:read"]],
    ["reading of the configuration", "developer", ["CONFIG_READ"], ["configs:read", "repos:read"]],
    ["several together", "viewer", ["CONFIG_READ", "ENV_READ"], ["environments:read", "configs:read", "repos:read"]],
    ["nothing that the owner may not", "viewer", ["ENV_CREATE", "CONFIG_WRITE"], ["environments:read"]],
    ["what a maintainer manages", "maintainer", ["CONFIG_WRITE"], ["configs:write"]],
    ["as many environments as the owner's", "maintainer", ["ENV_READ"], ["environments:read", "environments:all"]],
    ["no environment where none is asked for", "admin", ["CONFIG_READ"], ["configs:read", "repos:read"]],
  ])("let through %s: a %s's with %j are %j", (_what, role, scopes, expected) => {
    expect([...narrowed(permissionsOf([role]), scopes)]).toEqual(expected);
  });

  test.each<[Role, Scope[]]>([
    ["viewer", ["ENV_CREATE", "CONFIG_WRITE", "environments:create"]],
    ["developer", ["CONFIG_WRITE"]],
    ["maintainer", []],
  ])("that ask for more than a %s has are %j", (role, beyond) => {
    expect([...scopesBeyond(permissionsOf([role]), SCOPES)].sort()).toEqual([...beyond].sort());
  });
});

describe("an environment", () => {
  const spec: EnvironmentSpec = {
    backend: { repository: "r", branch: "main" },
    owner: { subject: "https://idp#owner", email: "same@example.test", name: "" },
    access: { groups: ["team"] },
  };
  test.each([
    ["its owner", person("owner", "i:v"), true],
    ["a member of its group", person("other", "i:v", "team"), true],
    ["a maintainer", person("other", "i:m"), true],
    ["an admin", person("other", "i:a"), true],
    ["another user", person("other", "i:d"), false],
    ["a user of the same e-mail", person("pretender", "i:d"), false],
  ])("is seen by %s: %s", (_who, caller, expected) => {
    expect(visibleTo(caller)(spec)).toBe(expected);
  });

  test("without owner and groups is seen by maintainers only", () => {
    const bare = {};
    expect(visibleTo(person("undefined", "i:d", "team"))(bare)).toBe(false);
    expect(visibleTo(person("x", "i:m"))(bare)).toBe(true);
  });
});
