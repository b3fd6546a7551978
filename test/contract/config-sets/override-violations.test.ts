import { describe, expect, test } from "@jest/globals";
import { at, backend, both, env, overriding, ref, secretOverrides } from "./secret-overrides.ts";

const { violations } = secretOverrides();

const numbered = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`V${at}`, value]));

/** The input, the path in the violation, and its message. */
type Row = [name: string, given: object, field: string, message: RegExp];

describe("overrides are refused, each with its path, when", () => {
  test.each<Row>([
    ["a name holds '='", env({ "A=B": "x" }), "backend.env.A=B", /must be the name of a variable/],
    ["a name is empty", env({ "": "x" }), "backend.env.", /must be the name of a variable/],
    ["a name holds NUL", env({ "A\0": "x" }), "backend.env.A\0", /must be the name of a variable/],
    ["a name holds a newline", env({ "A\n": "x" }), "backend.env.A\n", /must be the name of a variable/],
    ["a name begins with a digit", env({ "1A": "x" }), "backend.env.1A", /must be the name of a variable/],
    ["a value is a number", env({ A: 5 }), "backend.env.A", /^must be a string or an object$/],
    ["a value is true", env({ A: true }), "backend.env.A", /^must be a string/],
    ["a value is null", env({ A: null }), "backend.env.A", /^must be a string/],
    ["a value is a list", env({ A: ["x"] }), "backend.env.A", /^must be a string/],
    ["a value holds NUL", env({ A: "a\0b" }), "backend.env.A", /NUL/],
    ["a value is too long", env({ A: "x".repeat(32_769) }), "backend.env.A", /32768/],
    ["a name begins with a dot", env({ ".A": "x" }), "backend.env..A", /must be the name of a variable/],
    ["there are too many", env(numbered(501, "x")), "backend.env", /500/],
    [
      "all of a component are too long together",
      env(numbered(8, "x".repeat(32_000))),
      "backend.env",
      /^the variables of the backend have 251 KiB as JSON, and may have 240: put long ones/,
    ],
    [
      "they are too long together with those of the config set",
      { ...env(numbered(4, "x".repeat(32_000))), config_set: "long" },
      "backend.env",
      /^the variables of the backend have /,
    ],
    [
      "those of both components are too long together",
      overriding({
        backend: { env: numbered(5, "x".repeat(32_000)) },
        frontend: { env: numbered(5, "x".repeat(32_000)) },
      }),
      "",
      /^the variables of all components have 313 KiB as JSON, and may have 256/,
    ],
    [
      "too many refer to secrets",
      env(Object.fromEntries(Object.keys(numbered(101, "")).map((name) => [name, ref("shared-mail")]))),
      "backend.env",
      /^may refer to 100 secrets at most$/,
    ],
    ["an object is no reference", env({ A: {} }), "backend.env.A.secretKeyRef", /required/],
    [
      "a reference carries more",
      env({ A: { ...ref("shared-mail"), value: "x" } }),
      "backend.env.A.value",
      /not a known field/,
    ],
    [
      "a reference names no version",
      env({ A: { secretKeyRef: { name: "shared-mail" } } }),
      "backend.env.A.secretKeyRef.key",
      /required/,
    ],
    ...["../1", "", "0", "01", "-1", "LATEST", "1.0", 0, -1, 1.5, 1e21, true, {}].map(
      (key): Row => [
        `a version is ${JSON.stringify(key)}`,
        env({ A: ref("shared-mail", key) }),
        "backend.env.A.secretKeyRef.key",
        ["string", "number"].includes(typeof key) ? /latest|must be a string/ : /must be a string/,
      ],
    ),
    ...["projects/p/secrets/shared-mail", "../shared-mail", "shared mail", "", "shared-mail\n"].map(
      (id): Row => [
        `a secret is called ${JSON.stringify(id)}`,
        env({ A: ref(id) }),
        "backend.env.A.secretKeyRef.name",
        /must be the id of a secret/,
      ],
    ),
    ["a path is not overridable", overriding({ backend: { image: "evil" } }), "backend.image", /not overridable/],
    [
      "a path lies deeper",
      overriding({ backend: { cache: { size: { of: 1 } } } }),
      "backend.cache.size.of",
      /not overridable/,
    ],
    [
      "a path is a pod's own",
      overriding({ backend: { serviceAccountName: "admin" } }),
      "backend.serviceAccountName",
      /not overridable/,
    ],
    ["a path is of no chart", overriding({ database: {} }), "database", /not a known field/],
    [
      "a path that is not overridable holds nothing",
      overriding({ backend: { image: {} } }),
      "backend.image",
      /not overridable/,
    ],
    [
      "a value of the chart is nothing at all",
      overriding({ backend: { cache: { size: {} } } }),
      "backend.cache.size",
      /must be a text, a number/,
    ],
    [
      "a value of the chart is a number that would lose digits",
      overriding({ backend: { cache: { size: 1e21 } } }),
      "backend.cache.size",
      /must be a text, a number/,
    ],
    [
      "one value of the chart is given twice",
      overriding({ backend: { "cache.size": 1, cache: { size: 2 } } }),
      "backend.cache.size",
      /given twice/,
    ],
    [
      "a value of the chart is a list",
      overriding({ backend: { cache: { size: [1] } } }),
      "backend.cache.size",
      /must be a text, a number/,
    ],
    [
      "a value of the chart is null",
      overriding({ backend: { cache: { size: null } } }),
      "backend.cache.size",
      /must be a text, a number/,
    ],
    ["replicas are too many", overriding({ backend: { replicas: 21 } }), "backend.replicas", /<= 20/],
    [
      "an amount is none",
      overriding({ backend: { resources: { limits: { memory: "lots" } } } }),
      "backend.resources.limits.memory",
      /must be a quantity/,
    ],
    [
      "a resource is another one",
      overriding({ backend: { resources: { limits: { "nvidia.com/gpu": "1" } } } }),
      "backend.resources.limits.nvidia.com/gpu",
      /not a known field/,
    ],
    [
      "a request is above the limit beside it",
      overriding({ backend: { resources: { requests: { memory: "1Gi" }, limits: { memory: "512Mi" } } } }),
      "backend.resources.requests.memory",
      /^is more than its limit, 512Mi$/,
    ],
    [
      "a request is above the config set's limit",
      { ...overriding({ backend: { resources: { requests: { cpu: "600m" } } } }), config_set: "limited" },
      "backend.resources.requests.cpu",
      /^is more than its limit, 0.5$/,
    ],
    [
      "a limit is below the config set's request",
      { ...overriding({ backend: { resources: { limits: { memory: "64Mi" } } } }), config_set: "limited" },
      "backend.resources.limits.memory",
      /^is below the request, 128Mi, of the config set$/,
    ],
    [
      "a request is above the quota",
      overriding({ backend: { resources: { requests: { memory: "9Gi" } } } }),
      "backend.resources.requests.memory",
      /^is more than the environment's quota, 8Gi$/,
    ],
    [
      "a limit is above the quota",
      overriding({ backend: { resources: { limits: { memory: "17Gi" } } } }),
      "backend.resources.limits.memory",
      /^is more than the environment's quota, 16Gi$/,
    ],
    [
      "a request is above the quota of the config set",
      { ...overriding({ backend: { resources: { requests: { memory: "5Gi" } } } }), config_set: "limited" },
      "backend.resources.requests.memory",
      /^is more than the environment's quota, 4Gi$/,
    ],
    ["the port is among the variables", env({ PORT: "3000" }), "backend.env.PORT", /change port of the Repository/],
    [
      "the port is a reference",
      env({ PORT: ref("shared-mail") }),
      "backend.env.PORT",
      /^is what the platform sets: change port of the Repository$/,
    ],
    ["there is no frontend", overriding({ frontend: { replicas: 1 } }, backend), "frontend", /needs frontend_repo/],
    ["a secret is empty", env({ SECRET_KEY: "" }), "backend.env.SECRET_KEY", /must not be empty/],
    [
      "components are given different values of a secret",
      overriding({ backend: { env: { SECRET_KEY: "a" } }, frontend: { env: { SECRET_KEY: "b" } } }),
      "frontend.env.SECRET_KEY",
      /one value for all components/,
    ],
    [
      "components refer to different secrets",
      overriding({
        backend: { env: { KEY: ref("shared-mail") } },
        frontend: { env: { KEY: ref("shared-stripe") } },
      }),
      "frontend.env.KEY",
      /one value for all components/,
    ],
    [
      "one refers to a secret that the other gives",
      overriding({
        backend: { env: { SECRET_KEY: ref("shared-mail") } },
        frontend: { env: { SECRET_KEY: "b" } },
      }),
      "frontend.env.SECRET_KEY",
      /one value for all components/,
    ],
  ])("%s", async (_what, given, field, message) => {
    expect(await violations(given)).toEqual({
      [field === "" ? "config_overrides.helm_values" : at(field)]: expect.stringMatching(message),
    });
  });

  test("several are wrong: all are named together", async () => {
    const given = overriding({
      backend: { image: "x", env: { SECRET_KEY: "", OTHER: ref("billing-key") }, cache: { size: [] } },
    });
    expect(Object.keys(await violations(given)).sort()).toEqual(
      ["backend.cache.size", "backend.env.OTHER.secretKeyRef.name", "backend.env.SECRET_KEY", "backend.image"].map(at),
    );
  });

  test("very many are wrong: a hundred are named", async () => {
    const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => [`${prefix}${i}`, "x"]);
    const unlisted = overriding({ backend: { deep: Object.fromEntries(names("v", 5_000)) } });
    const misnamed = env(Object.fromEntries(names("1", 5_000)));
    for (const given of [unlisted, misnamed]) expect(Object.keys(await violations(given))).toHaveLength(100);
  });

  test("config_overrides carries anything else", async () => {
    expect(await violations({ ...both, config_overrides: { values: {} } })).toEqual({
      "config_overrides.values": "is not a known field",
    });
  });
});
