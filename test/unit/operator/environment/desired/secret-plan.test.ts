import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../crds/config-set.ts";
import type { EnvironmentSpec, SecretStatus } from "../../../../../crds/environment/ephemeral-environment.ts";
import type { EnvironmentVariable } from "../../../../../crds/environment/overrides.schema.ts";
import { plannedStatus } from "../../../../../operator/environment/desired/planned-secret.ts";
import { formerPlan, secretPlan } from "../../../../../operator/environment/desired/secret-plan.ts";
import { environmentFixture, repositoryFixture, UID } from "../../../../support/fixtures/environment-fixture.ts";
import { planInputFixture } from "../../../../support/fixtures/plan-input.ts";

type Secrets = NonNullable<EnvironmentSpec["secrets"]>;

interface Given {
  /** What the backend's Repository lists; `KEY` unless said. */
  readonly listed?: readonly string[];
  readonly asked?: Secrets;
  readonly env?: EnvironmentVariable[];
  readonly frontendEnv?: EnvironmentVariable[];
  readonly configSet?: ConfigSetSpec;
  readonly groups?: string[];
  /** `spec.database.provision`. */
  readonly database?: boolean;
  readonly former?: SecretStatus[];
}

function plan({ listed = ["KEY"], asked, env, frontendEnv, configSet, groups = [], database, former }: Given) {
  const environment = environmentFixture({
    spec: {
      ...(frontendEnv && { frontend: { repository: "shop-web", branch: "main" } }),
      ...(asked && { secrets: asked }),
      ...(database === undefined ? {} : { database: { provision: database } }),
      overrides: { ...(env && { backend: { env } }), ...(frontendEnv && { frontend: { env: frontendEnv } }) },
      access: { groups },
    },
    ...(former && { status: { secrets: former } }),
  });
  const backend = repositoryFixture("shop-api", { secrets: listed.map((name) => ({ name })) });
  const frontend = repositoryFixture("shop-web", { type: "frontend", secrets: [] });
  return secretPlan(planInputFixture(environment, { backend, ...(frontendEnv && { frontend }) }, configSet));
}

const refers = (name: string, id: string, key = "latest"): EnvironmentVariable => ({
  name,
  secretRef: { name: id, key },
});
const own = (name: string, version: number, rotation?: string): SecretStatus =>
  rotation === undefined ? { name, version } : { name, version, rotation };
const url = (version: number, more: Partial<SecretStatus> = {}): SecretStatus => ({
  ...{ name: "DATABASE_URL", version, source: "DATABASE_PASSWORD@latest" },
  ...more,
});
const alias = `shop-${UID.replaceAll("-", "").slice(0, 8)}`;

describe("the plan of an environment's secrets", () => {
  test.each<{ name: string; given: Given; expected: SecretStatus[] }>([
    {
      name: "generates what the Repository lists",
      given: { listed: ["B", "A"] },
      expected: [own("A", 1), own("B", 1)],
    },
    {
      name: "gives an environment nothing that its Repository lists later",
      given: { listed: ["A", "LATE"], former: [own("A", 1)] },
      expected: [own("A", 1)],
    },
    {
      name: "keeps what its Repository lists no more",
      given: { listed: [], former: [own("A", 3)] },
      expected: [own("A", 3)],
    },
    {
      name: "has what is provided beside it",
      given: { asked: { provided: ["P"] } },
      expected: [own("KEY", 1), own("P", 1)],
    },
    {
      name: "has what is provided later",
      given: { asked: { provided: ["P"] }, former: [own("KEY", 1)] },
      expected: [own("KEY", 1), own("P", 1)],
    },
    {
      name: "reads what is referred to instead of generating it; latest is still to be resolved",
      given: { env: [refers("KEY", "shared"), refers("OTHER", "more", "4")] },
      expected: [
        { name: "KEY", version: 0, source: "shared@latest" },
        { name: "OTHER", version: 4, source: "more@4" },
      ],
    },
    {
      name: "pins what latest was when it was resolved",
      given: { env: [refers("KEY", "shared")], former: [{ name: "KEY", version: 7, source: "shared@latest" }] },
      expected: [{ name: "KEY", version: 7, source: "shared@latest" }],
    },
    {
      name: "resolves latest anew where another version was named before",
      given: { env: [refers("KEY", "shared")], former: [{ name: "KEY", version: 7, source: "shared@7" }] },
      expected: [{ name: "KEY", version: 0, source: "shared@latest" }],
    },
    {
      name: "resolves latest anew for a rotation",
      given: {
        env: [refers("KEY", "shared")],
        asked: { rotate: { KEY: "2" } },
        former: [{ name: "KEY", version: 7, source: "shared@latest", rotation: "1" }],
      },
      expected: [{ name: "KEY", version: 0, source: "shared@latest", rotation: "2" }],
    },
    {
      name: "follows another reference",
      given: { env: [refers("KEY", "new", "1")], former: [{ name: "KEY", version: 7, source: "shared@latest" }] },
      expected: [{ name: "KEY", version: 1, source: "new@1" }],
    },
    {
      name: "remembers the own version that a reference stands in for",
      given: { env: [refers("KEY", "shared", "1")], former: [own("KEY", 3, "b")] },
      expected: [{ name: "KEY", version: 1, rotation: "b", source: "shared@1", own: 3 }],
    },
    {
      name: "goes back to that version, not to one that was rotated away",
      given: { former: [{ name: "KEY", version: 1, rotation: "b", source: "shared@1", own: 3 }] },
      expected: [own("KEY", 3, "b")],
    },
    {
      name: "generates a first value where the reference was there from the beginning",
      given: { former: [{ name: "KEY", version: 5, source: "shared@5" }] },
      expected: [own("KEY", 1)],
    },
    {
      name: "drops what was only referred to",
      given: { former: [own("KEY", 1), { name: "OTHER", version: 5, source: "shared@5" }] },
      expected: [own("KEY", 1)],
    },
    {
      name: "rotates one variable and leaves the others",
      given: { listed: ["A", "B"], asked: { rotate: { A: "now" } }, former: [own("A", 1), own("B", 1)] },
      expected: [own("A", 2, "now"), own("B", 1)],
    },
    {
      name: "rotates once for one request",
      given: { asked: { rotate: { KEY: "now" } }, former: [own("KEY", 2, "now")] },
      expected: [own("KEY", 2, "now")],
    },
    {
      name: "rotates again for another request",
      given: { asked: { rotate: { KEY: "again" } }, former: [own("KEY", 2, "now")] },
      expected: [own("KEY", 3, "again")],
    },
    {
      name: "rotates nothing back when the request is withdrawn",
      given: { former: [own("KEY", 2, "now")] },
      expected: [own("KEY", 2, "now")],
    },
    {
      name: "has nothing to rotate in a first value",
      given: { asked: { rotate: { KEY: "now" } } },
      expected: [own("KEY", 1, "now")],
    },
    {
      name: "repeats a value of its own, in the version in force",
      given: { env: [refers("SAME", `${alias}-KEY`)], asked: { rotate: { KEY: "2" } }, former: [own("KEY", 4)] },
      expected: [own("KEY", 5, "2"), { name: "SAME", version: 5, source: `${alias}-KEY@latest` }],
    },
    {
      name: "takes shared API keys of the config set when asked for them",
      given: {
        asked: { useSharedApiKeys: true },
        configSet: { sharedApiKeys: [{ name: "MAPS", secretRef: { name: "maps", key: "2" } }] },
      },
      expected: [own("KEY", 1), { name: "MAPS", version: 2, source: "maps@2" }],
    },
    {
      name: "takes none when not",
      given: { configSet: { sharedApiKeys: [{ name: "MAPS", secretRef: { name: "maps", key: "2" } }] } },
      expected: [own("KEY", 1)],
    },
    {
      name: "prefers a provided value to what the config set refers to",
      given: { asked: { provided: ["MAPS"] }, configSet: { env: [refers("MAPS", "maps", "2")] } },
      expected: [own("KEY", 1), own("MAPS", 1)],
    },
    {
      name: "generates nothing when told so",
      given: { asked: { autoGenerate: false, provided: ["KEY"] } },
      expected: [own("KEY", 1)],
    },
    {
      name: "keeps a value that was given while that is asked for no longer: nothing that was rotated away comes back",
      given: { listed: [], asked: { autoGenerate: false }, former: [own("P", 2, "b")] },
      expected: [own("P", 2, "b")],
    },
    {
      name: "rotates no variable for what JavaScript knows by its name",
      given: { listed: ["constructor", "toString"], former: [own("constructor", 1), own("toString", 1)] },
      expected: [own("constructor", 1), own("toString", 1)],
    },
    {
      name: "refers to a variable that JavaScript knows by its name",
      given: {
        env: [refers("valueOf", "shared")],
        former: [own("KEY", 1), { name: "valueOf", version: 2, source: "shared@latest" }],
      },
      expected: [own("KEY", 1), { name: "valueOf", version: 2, source: "shared@latest" }],
    },
    { name: "may be empty", given: { listed: [] }, expected: [] },
    {
      name: "has password and URL of a database, whatever the Repository lists",
      given: { listed: [], database: true },
      expected: [own("DATABASE_PASSWORD", 1), url(1)],
    },
    {
      name: "has both also where the config set says so",
      given: { listed: [], configSet: { database: { enabled: true } } },
      expected: [own("DATABASE_PASSWORD", 1), url(1)],
    },
    {
      name: "has neither where the environment says otherwise than its config set",
      given: { listed: [], database: false, configSet: { database: { enabled: true } } },
      expected: [],
    },
    {
      name: "gets both with a database that comes later",
      given: { database: true, former: [own("KEY", 1)] },
      expected: [own("DATABASE_PASSWORD", 1), url(1), own("KEY", 1)],
    },
    {
      name: "keeps the password, and only that, of a database that went",
      given: { database: false, listed: [], former: [own("DATABASE_PASSWORD", 2), url(2)] },
      expected: [own("DATABASE_PASSWORD", 2)],
    },
    {
      name: "has a new URL with every new password",
      given: {
        ...{ database: true, listed: [], asked: { rotate: { DATABASE_PASSWORD: "b" } } },
        former: [own("DATABASE_PASSWORD", 1), url(1)],
      },
      expected: [own("DATABASE_PASSWORD", 2, "b"), url(2)],
    },
    {
      name: "makes the URL of a password that is read from elsewhere",
      given: { database: true, listed: [], env: [refers("DATABASE_PASSWORD", "shared", "4")] },
      expected: [{ name: "DATABASE_PASSWORD", version: 4, source: "shared@4" }, url(4)],
    },
    {
      name: "resolves that password before there is a URL of it",
      given: { database: true, listed: [], env: [refers("DATABASE_PASSWORD", "shared")] },
      expected: [{ name: "DATABASE_PASSWORD", version: 0, source: "shared@latest" }, url(0)],
    },
    {
      name: "leaves a provided URL as it is",
      given: { database: true, listed: [], asked: { provided: ["DATABASE_URL"] } },
      expected: [own("DATABASE_PASSWORD", 1), own("DATABASE_URL", 1)],
    },
    {
      name: "leaves a referenced URL as it is",
      given: { database: true, listed: [], env: [refers("DATABASE_URL", "shared", "4")] },
      expected: [own("DATABASE_PASSWORD", 1), { name: "DATABASE_URL", version: 4, source: "shared@4" }],
    },
    {
      name: "makes the URL of the database rather than a random one that the Repository lists",
      given: { database: true, listed: ["DATABASE_URL"], former: [own("DATABASE_URL", 3)] },
      expected: [own("DATABASE_PASSWORD", 1), url(1, { own: 3 })],
    },
  ])("$name", ({ given, expected }) => {
    const { secrets, problem } = plan(given) as Extract<ReturnType<typeof plan>, { problem?: undefined }>;
    expect(problem).toBeUndefined();
    expect(plannedStatus(secrets)).toEqual(expected);
  });

  test("generates a value of the listed shape, never a provided one", () => {
    const planned = plan({ listed: ["KEY"], asked: { provided: ["P"] }, former: [own("GONE", 1), own("KEY", 1)] });
    const generates = "secrets" in planned ? planned.secrets.map((secret) => "generate" in secret && secret.name) : [];
    expect(generates).toEqual(["GONE", "KEY", false]);
  });
});

describe("the plan of before", () => {
  const before = [
    { name: "ALIAS", version: 2, source: `${alias}-KEY@latest` },
    own("DATABASE_PASSWORD", 3, "a"),
    url(3, { own: 1 }),
    own("KEY", 2),
    { name: "MAPS", version: 7, rotation: "b", source: "maps@latest", own: 2 },
    own("P", 1),
  ];
  const formerOf = (asked: Secrets) => {
    const environment = environmentFixture({ spec: { secrets: asked }, status: { secrets: before } });
    const backend = repositoryFixture("shop-api", { secrets: [{ name: "KEY" }] });
    return formerPlan(planInputFixture(environment, { backend }));
  };

  test("is what the status has, whatever is asked for now", () => {
    const plan = formerOf({ provided: ["P", "NEW"], rotate: { KEY: "now", UNKNOWN: "1" } });
    expect(plannedStatus(plan)).toEqual(before);
    expect(plan.map(({ kind }) => kind)).toEqual(["alias", "own", "derived", "own", "shared", "own"]);
    expect(plan.map((secret) => ("of" in secret ? secret.of : undefined))).toEqual([
      ...["KEY", undefined, "DATABASE_PASSWORD", undefined, "maps", undefined],
    ]);
  });

  test.each([
    {
      name: "generates what is lost and not provided",
      asked: { provided: ["P"] },
      expected: ["DATABASE_PASSWORD", "KEY"],
    },
    { name: "makes nothing when told so", asked: { autoGenerate: false }, expected: [] },
  ])("$name", ({ asked, expected }) => {
    expect(formerOf(asked).flatMap((one) => ("generate" in one ? [one.name] : []))).toEqual(expected);
  });
});

describe("it can't be made, and what runs stays, when", () => {
  const keys = { sharedApiKeys: [{ name: "MAPS", secretRef: { name: "maps", key: "2" } }] };
  test.each<{ name: string; given: Given; reason: string; named: string }>([
    {
      name: "a secret variable has a plain value",
      given: { env: [{ name: "KEY", value: "seen" }] },
      reason: "SecretInPlainText",
      named: "KEY",
    },
    {
      name: "a provided one has a plain value",
      given: { asked: { provided: ["P"] }, env: [{ name: "P", value: "seen" }] },
      reason: "SecretInPlainText",
      named: "P",
    },
    {
      name: "components refer to different secrets",
      given: { env: [refers("X", "one")], frontendEnv: [refers("X", "two")] },
      reason: "SecretContradictory",
      named: "X",
    },
    {
      name: "a variable is provided and referred to",
      given: { asked: { provided: ["X"] }, env: [refers("X", "one")] },
      reason: "SecretContradictory",
      named: "X",
    },
    {
      name: "shared API keys are asked for without a config set",
      given: { asked: { useSharedApiKeys: true } },
      reason: "SharedApiKeysMissing",
      named: "useSharedApiKeys",
    },
    {
      name: "the config set has none",
      given: { asked: { useSharedApiKeys: true }, configSet: {} },
      reason: "SharedApiKeysMissing",
      named: "useSharedApiKeys",
    },
    {
      name: "the config set is for other groups",
      given: { asked: { useSharedApiKeys: true }, configSet: { ...keys, access: { groups: ["x"] } }, groups: ["y"] },
      reason: "SecretNotShared",
      named: "useSharedApiKeys",
    },
    {
      name: "nothing is generated and something is missing",
      given: { listed: ["A", "B", "C"], asked: { autoGenerate: false, provided: ["A"] }, env: [refers("B", "b")] },
      reason: "SecretsMissing",
      named: "C:",
    },
    {
      name: "nothing is generated, and a database has no password",
      given: { listed: [], asked: { autoGenerate: false }, database: true },
      reason: "SecretsMissing",
      named: "DATABASE_PASSWORD:",
    },
    {
      name: "a database's password has a plain value",
      given: { listed: [], database: true, env: [{ name: "DATABASE_PASSWORD", value: "seen" }] },
      reason: "SecretInPlainText",
      named: "DATABASE_PASSWORD:",
    },
    {
      name: "what is no variable is to be rotated",
      given: { asked: { rotate: { KEY: "1", KEYS: "1" } } },
      reason: "RotationUnknown",
      named: "KEYS:",
    },
  ])("$name", ({ given, reason, named }) => {
    const { problem } = plan(given);
    expect(problem).toMatchObject({ state: "failed", reason, message: expect.stringContaining(named) });
    expect(problem?.message).not.toContain("seen");
  });
});
