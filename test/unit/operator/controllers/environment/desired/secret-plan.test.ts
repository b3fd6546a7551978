import { describe, expect, test } from "@jest/globals";
import type { SecretStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { plannedStatus } from "../../../../../../operator/controllers/environment/desired/planned-secret.ts";
import { alias, type Given, own, plan, refers, url } from "./plan-of-secrets.ts";

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
      given: { requested: { provided: ["P"] } },
      expected: [own("KEY", 1), own("P", 1)],
    },
    {
      name: "has what is provided later",
      given: { requested: { provided: ["P"] }, former: [own("KEY", 1)] },
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
        requested: { rotate: { KEY: "2" } },
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
      given: { listed: ["A", "B"], requested: { rotate: { A: "now" } }, former: [own("A", 1), own("B", 1)] },
      expected: [own("A", 2, "now"), own("B", 1)],
    },
    {
      name: "rotates once for one request",
      given: { requested: { rotate: { KEY: "now" } }, former: [own("KEY", 2, "now")] },
      expected: [own("KEY", 2, "now")],
    },
    {
      name: "rotates again for another request",
      given: { requested: { rotate: { KEY: "again" } }, former: [own("KEY", 2, "now")] },
      expected: [own("KEY", 3, "again")],
    },
    {
      name: "rotates nothing back when the request is withdrawn",
      given: { former: [own("KEY", 2, "now")] },
      expected: [own("KEY", 2, "now")],
    },
    {
      name: "has nothing to rotate in a first value",
      given: { requested: { rotate: { KEY: "now" } } },
      expected: [own("KEY", 1, "now")],
    },
    {
      name: "repeats a value of its own, in the version in force",
      given: { env: [refers("SAME", `${alias}-KEY`)], requested: { rotate: { KEY: "2" } }, former: [own("KEY", 4)] },
      expected: [own("KEY", 5, "2"), { name: "SAME", version: 5, source: `${alias}-KEY@latest` }],
    },
    {
      name: "takes shared API keys of the config set when asked for them",
      given: {
        requested: { useSharedApiKeys: true },
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
      given: { requested: { provided: ["MAPS"] }, configSet: { env: [refers("MAPS", "maps", "2")] } },
      expected: [own("KEY", 1), own("MAPS", 1)],
    },
    {
      name: "generates nothing when the spec says so",
      given: { requested: { autoGenerate: false, provided: ["KEY"] } },
      expected: [own("KEY", 1)],
    },
    {
      name: "keeps a value that was given while that is asked for no longer: nothing that was rotated away comes back",
      given: { listed: [], requested: { autoGenerate: false }, former: [own("P", 2, "b")] },
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
        database: true,
        listed: [],
        requested: { rotate: { DATABASE_PASSWORD: "b" } },
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
      given: { database: true, listed: [], requested: { provided: ["DATABASE_URL"] } },
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
    const planned = plan({ listed: ["KEY"], requested: { provided: ["P"] }, former: [own("GONE", 1), own("KEY", 1)] });
    const generates = "secrets" in planned ? planned.secrets.map((secret) => "generate" in secret && secret.name) : [];
    expect(generates).toEqual(["GONE", "KEY", false]);
  });
});
