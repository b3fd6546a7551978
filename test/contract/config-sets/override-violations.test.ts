import { describe, expect, test } from "@jest/globals";
import { at, backend, both, env, overriding, ref, secretOverrides } from "./secret-overrides.ts";

const { violations } = secretOverrides();

describe("overrides are refused, each with its path, when", () => {
  test.each([
    {
      name: "a name holds '='",
      given: env({ "A=B": "x" }),
      field: "backend.env.A=B",
      message: /must be the name of a variable/,
    },
    {
      name: "a name is empty",
      given: env({ "": "x" }),
      field: "backend.env.",
      message: /must be the name of a variable/,
    },
    {
      name: "a name holds NUL",
      given: env({ "A\0": "x" }),
      field: "backend.env.A\0",
      message: /must be the name of a variable/,
    },
    {
      name: "a name holds a newline",
      given: env({ "A\n": "x" }),
      field: "backend.env.A\n",
      message: /must be the name of a variable/,
    },
    {
      name: "a name begins with a digit",
      given: env({ "1A": "x" }),
      field: "backend.env.1A",
      message: /must be the name of a variable/,
    },
    {
      name: "a value is a number",
      given: env({ A: 5 }),
      field: "backend.env.A",
      message: /^must be a string or an object$/,
    },
    { name: "a value is true", given: env({ A: true }), field: "backend.env.A", message: /^must be a string/ },
    { name: "a value is null", given: env({ A: null }), field: "backend.env.A", message: /^must be a string/ },
    { name: "a value is a list", given: env({ A: ["x"] }), field: "backend.env.A", message: /^must be a string/ },
    { name: "a value holds NUL", given: env({ A: "a\0b" }), field: "backend.env.A", message: /NUL/ },
    { name: "a value is too long", given: env({ A: "x".repeat(4097) }), field: "backend.env.A", message: /4096/ },
    {
      name: "an object is no reference",
      given: env({ A: {} }),
      field: "backend.env.A.secretKeyRef",
      message: /required/,
    },
    {
      name: "a reference carries more",
      given: env({ A: { ...ref("shared-mail"), value: "x" } }),
      field: "backend.env.A.value",
      message: /not a known field/,
    },
    {
      name: "a reference names no version",
      given: env({ A: { secretKeyRef: { name: "shared-mail" } } }),
      field: "backend.env.A.secretKeyRef.key",
      message: /required/,
    },
    ...["../1", "", "0", "01", "-1", "LATEST", "1.0", 0, -1, 1.5, 1e21, true, {}].map((key) => ({
      name: `a version is ${JSON.stringify(key)}`,
      given: env({ A: ref("shared-mail", key) }),
      field: "backend.env.A.secretKeyRef.key",
      message: ["string", "number"].includes(typeof key) ? /latest|must be a string/ : /must be a string/,
    })),
    ...["projects/p/secrets/shared-mail", "../shared-mail", "shared mail", "", "shared-mail\n"].map((id) => ({
      name: `a secret is called ${JSON.stringify(id)}`,
      given: env({ A: ref(id) }),
      field: "backend.env.A.secretKeyRef.name",
      message: /must be the id of a secret/,
    })),
    {
      name: "a path is not overridable",
      given: overriding({ backend: { image: "evil" } }),
      field: "backend.image",
      message: /not overridable/,
    },
    {
      name: "a path lies deeper",
      given: overriding({ backend: { cache: { size: { of: 1 } } } }),
      field: "backend.cache.size.of",
      message: /not overridable/,
    },
    {
      name: "a path is a pod's own",
      given: overriding({ backend: { serviceAccountName: "admin" } }),
      field: "backend.serviceAccountName",
      message: /not overridable/,
    },
    {
      name: "a path is of nobody",
      given: overriding({ database: {} }),
      field: "database",
      message: /not a known field/,
    },
    {
      name: "a path that is not overridable holds nothing",
      given: overriding({ backend: { image: {} } }),
      field: "backend.image",
      message: /not overridable/,
    },
    {
      name: "a value of the chart is nothing at all",
      given: overriding({ backend: { cache: { size: {} } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "a value of the chart is a number that would lose digits",
      given: overriding({ backend: { cache: { size: 1e21 } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "one value of the chart is given twice",
      given: overriding({ backend: { "cache.size": 1, cache: { size: 2 } } }),
      field: "backend.cache.size",
      message: /given twice/,
    },
    {
      name: "a value of the chart is a list",
      given: overriding({ backend: { cache: { size: [1] } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "a value of the chart is null",
      given: overriding({ backend: { cache: { size: null } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "replicas are too many",
      given: overriding({ backend: { replicas: 21 } }),
      field: "backend.replicas",
      message: /<= 20/,
    },
    {
      name: "an amount is none",
      given: overriding({ backend: { resources: { limits: { memory: "lots" } } } }),
      field: "backend.resources.limits.memory",
      message: /must be a quantity/,
    },
    {
      name: "a resource is another one",
      given: overriding({ backend: { resources: { limits: { "nvidia.com/gpu": "1" } } } }),
      field: "backend.resources.limits.nvidia.com/gpu",
      message: /not a known field/,
    },
    {
      name: "there is no frontend",
      given: overriding({ frontend: { replicas: 1 } }, backend),
      field: "frontend",
      message: /needs frontend_repo/,
    },
    {
      name: "a secret is empty",
      given: env({ SECRET_KEY: "" }),
      field: "backend.env.SECRET_KEY",
      message: /must not be empty/,
    },
    {
      name: "components are given different values of a secret",
      given: overriding({ backend: { env: { SECRET_KEY: "a" } }, frontend: { env: { SECRET_KEY: "b" } } }),
      field: "frontend.env.SECRET_KEY",
      message: /one value for all components/,
    },
    {
      name: "components refer to different secrets",
      given: overriding({
        backend: { env: { KEY: ref("shared-mail") } },
        frontend: { env: { KEY: ref("shared-stripe") } },
      }),
      field: "frontend.env.KEY",
      message: /one value for all components/,
    },
    {
      name: "one refers to a secret that the other gives",
      given: overriding({
        backend: { env: { SECRET_KEY: ref("shared-mail") } },
        frontend: { env: { SECRET_KEY: "b" } },
      }),
      field: "frontend.env.SECRET_KEY",
      message: /one value for all components/,
    },
  ])("$name", async ({ given, field, message }) => {
    expect(await violations(given)).toEqual({ [at(field)]: expect.stringMatching(message) });
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
