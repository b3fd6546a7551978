import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { listRoutes } from "../../../api/routes.ts";
import {
  COMPONENTS,
  componentHost,
  FURTHER_HOST_PATTERN,
  furtherHost,
  hostLabel,
  hostUrl,
  NAME_RULES,
  nameProblem,
  namespaceName,
  secretEntryId,
  secretStoreName,
} from "../../../crds/names.ts";
import { UID } from "../../support/fixtures/environment/environment-fixture.ts";

const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const names = fc.stringMatching(/^[a-z][a-z0-9-]{1,48}[a-z0-9]$/).filter((name) => nameProblem(name) === undefined);

describe("a name", () => {
  test.each([
    ["abc", undefined],
    ["shop-pr-42", undefined],
    ["a".repeat(50), undefined],
    ["x-0", undefined],
    ["apiary", undefined],
    ["kubernetes", undefined],
    ["ab", "must have 3 to 50 characters"],
    ["a".repeat(51), "must have 3 to 50 characters"],
    ["", "must have 3 to 50 characters"],
    ["1shop", "must be lower-case"],
    ["Shop", "must be lower-case"],
    ["shop-", "must be lower-case"],
    ["-shop", "must be lower-case"],
    ["sh_op", "must be lower-case"],
    ["sh.op", "must be lower-case"],
    ["shop\n", "must be lower-case"],
    ["shоp", "must be lower-case"],
    ["a--api", "must not contain '--'"],
    ["xn--shop", "must not contain '--'"],
    ["abcdef01-1111-4222-8333-444455556666", "must not look like a UUID"],
    ["argocd", "is reserved"],
    ["default", "is reserved"],
    ["cleanup-failed", "is reserved"],
    ["reload", undefined],
    ["kube-system", "is reserved"],
    ["ephemeral-x", "is reserved"],
  ])("%j: %s", (name, problem) => {
    if (problem === undefined) expect(nameProblem(name)).toBeUndefined();
    else expect(nameProblem(name)).toContain(problem);
  });

  test.each([
    ["environment", "/api/environments", ["cleanup-failed"]],
    ["repository", "/api/repos", ["reload"]],
    ["configSet", "/api/config-sets", []],
  ] as const)(
    "of an %s is no word that %s has where names have their path: it could not be read",
    (kind, path, words) => {
      const below = listRoutes().flatMap(({ contract }) =>
        contract.path.startsWith(`${path}/`) ? [contract.path] : [],
      );
      const found = below.map((one) => one.split("/")[3] ?? "").filter((word) => !word.startsWith("{"));
      expect(new Set(found)).toEqual(new Set(words));
      for (const word of words) expect(nameProblem(word, kind)).toBe("is reserved");
    },
  );

  test.each([
    ["repository", ["reload", "kube-api", "ephemeral-api"], ["default", "api", "docs", "cleanup-failed"]],
    ["configSet", [], ["default", "reload", "kube-x", "ephemeral-x", "api"]],
  ] as const)("of a %s is reserved where it is %j, and not where it is %j", (kind, reserved, free) => {
    for (const name of reserved) expect([name, nameProblem(name, kind)]).toEqual([name, "is reserved"]);
    for (const name of free) expect([name, nameProblem(name, kind)]).toEqual([name, undefined]);
    expect(nameProblem("a--b", kind)).toBe("must not contain '--'");
  });

  test("leads to these names, which stored things already carry", () => {
    expect(namespaceName("shop")).toBe("env-shop");
    expect(secretStoreName({ name: "shop", uid: UID })).toBe(`shop-${UID.slice(0, 8)}`);
    expect(secretEntryId({ name: "shop", uid: UID }, "API_KEY")).toBe(`shop-${UID.slice(0, 8)}-API_KEY`);
    expect(COMPONENTS.map((component) => [component, hostLabel("shop", component)])).toEqual([
      ["backend", "shop--api"],
      ["frontend", "shop"],
    ]);
  });

  test("and a variable make ids that every secret manager takes, each different from every other variable's", () => {
    const variable = fc.oneof(fc.stringMatching(/^[A-Za-z_]{1,200}$/), fc.string({ minLength: 1, maxLength: 300 }));
    const pairs = fc.tuple(names, variable, variable);
    fc.assert(
      fc.property(pairs, ([name, one, other]) => {
        const [id, otherId] = [one, other].map((variable) => secretEntryId({ name, uid: UID }, variable));
        expect(id).toMatch(/^[A-Za-z0-9_-]{1,255}$/);
        expect(id?.startsWith(`${name}-`)).toBe(true);
        expect(id === otherId).toBe(one === other);
      }),
    );
  });

  test("makes only DNS labels, each different from every other name's", () => {
    const derived = (name: string) => [
      namespaceName(name),
      secretStoreName({ name, uid: UID }),
      ...COMPONENTS.map((component) => hostLabel(name, component)),
    ];
    fc.assert(
      fc.property(names, names, (one, other) => {
        for (const label of derived(one)) expect(label).toMatch(DNS_LABEL);
        const shared = derived(one).filter((label) => derived(other).includes(label));
        expect(shared).toEqual(one === other ? derived(one) : []);
      }),
    );
  });

  test("is checked alike by the API server and by this code", () => {
    const inCel = new Map(
      Object.values(NAME_RULES)
        .flat()
        .map((rule) => [rule, evaluated(rule.cel)]),
    );
    const candidates = fc.oneof(
      fc.stringMatching(/^[a-z0-9-]{0,55}$/),
      fc.string({ maxLength: 60 }),
      fc.uuid(),
      fc.constantFrom("api", "www", "kube-x", "ephemeral-x", "a--b", "default"),
    );
    fc.assert(
      fc.property(candidates, (name) => {
        for (const [rule, holds] of inCel)
          expect([name, rule.cel, holds(name)]).toEqual([name, rule.cel, rule.holds(name)]);
      }),
      { numRuns: 500 },
    );
  });
});

function evaluated(cel: string): (name: string) => boolean {
  const script = cel
    .replaceAll("name.size()", "name.length")
    .replaceAll(".matches(", ".search(")
    .replaceAll(/(name\.search\('[^']*'\))/g, "($1 >= 0)")
    .replaceAll(".contains(", ".includes(")
    .replaceAll(/\(name in (\[[^\]]*\])\)/g, "$1.includes(name)");
  return new Function("name", `return ${script};`) as (name: string) => boolean;
}

describe("the hosts of an environment", () => {
  const furtherNames = fc.stringMatching(new RegExp(`^${FURTHER_HOST_PATTERN}$`));
  const DOMAIN = "env.test";
  /** Similar names: one begins with the other. */
  const alike = fc.tuple(names, names).map(([one, other]): [string, string] => [one, `${one}-${other}`.slice(0, 50)]);
  const pairs = fc
    .oneof(fc.tuple(names, names), alike)
    .filter(([one, other]) => one !== other && nameProblem(other) === undefined);
  const hostsOf = (name: string, further: readonly string[]) => [
    ...COMPONENTS.map((component) => componentHost(name, component, DOMAIN)),
    ...further.map((each) => furtherHost(name, each, DOMAIN)),
  ];

  test("are those of no other, whatever further hosts both have", () => {
    const lists = fc.array(furtherNames, { maxLength: 10 });
    fc.assert(
      fc.property(pairs, lists, lists, ([one, other], ofOne, ofOther) => {
        const theirs = new Set(hostsOf(other, [...ofOne, ...ofOther]));
        expect(hostsOf(one, [...ofOne, ...ofOther]).filter((host) => theirs.has(host))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("are labels of DNS, each of them another", () => {
    fc.assert(
      fc.property(names, fc.uniqueArray(furtherNames.filter((name) => name !== "api")), (name, further) => {
        const hosts = hostsOf(name, further);
        for (const host of hosts) expect(host.replace(`.${DOMAIN}`, "")).toMatch(DNS_LABEL);
        expect(new Set(hosts).size).toBe(hosts.length);
      }),
    );
  });

  test("are what the policies let through, and those of no other environment", () => {
    const chart = readFileSync(
      new URL("../../../deploy/charts/platform/templates/_policies.tpl", import.meta.url),
      "utf8",
    );
    const written = `'^' + variables.environment + '(--${FURTHER_HOST_PATTERN})?[.]`;
    expect(chart).toContain(written);
    const isOwn = (environment: string, host: string) =>
      new RegExp(`^${environment}(--${FURTHER_HOST_PATTERN})?[.]env[.]test$`).test(host);
    fc.assert(
      fc.property(pairs, fc.array(furtherNames), ([one, other], further) => {
        for (const host of hostsOf(one, further)) expect([isOwn(one, host), isOwn(other, host)]).toEqual([true, false]);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("the port is part of a URL unless it is HTTPS's own", () => {
  expect(hostUrl("shop.test", 443)).toBe("https://shop.test");
  expect(hostUrl("shop.test", 18443)).toBe("https://shop.test:18443");
});
