import { describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../../crds/sensitive.ts";
import {
  credentialsIn,
  pullContents,
  pullPlan,
  pullSecretObject,
  pullStatus,
} from "../../../../../../operator/controllers/environment/desired/pull-secret.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const of = (repository: string, credential?: string) =>
  repositoryFixture(repository.replaceAll("/", "-"), {
    image: { repository },
    ...(credential === undefined ? {} : { imagePullSecretRef: { name: credential, key: "latest" } }),
  });

describe("what images are pulled with", () => {
  const DOCKER_HUB = "https://index.docker.io/v1/";

  test.each<{ name: string; given: [string, string?][]; expected: [string, string][] }>([
    { name: "is nothing where everybody may pull", given: [["registry.test/a"], ["registry.test/b"]], expected: [] },
    {
      name: "is what one component needs",
      given: [["registry.test/a", "shop"], ["registry.test/b"]],
      expected: [["registry.test", "shop@latest"]],
    },
    {
      name: "is one where both need the same",
      given: [
        ["registry.test/a", "shop"],
        ["registry.test/b", "shop"],
      ],
      expected: [["registry.test", "shop@latest"]],
    },
    {
      name: "is one of each registry",
      given: [
        ["registry.test:5000/a", "shop"],
        ["shop/b", "hub"],
      ],
      expected: [
        ["registry.test:5000", "shop@latest"],
        [DOCKER_HUB, "hub@latest"],
      ],
    },
    {
      name: "goes by the images where two differ for one registry",
      given: [
        ["registry.test/shop/a", "a-token"],
        ["registry.test/shop/b", "b-token"],
      ],
      expected: [
        ["registry.test/shop/a", "a-token@latest"],
        ["registry.test/shop/b", "b-token@latest"],
      ],
    },
    {
      name: "goes by the whole names of images of Docker Hub, too",
      given: [
        ["shop/a", "a-token"],
        ["index.docker.io/shop/b", "b-token"],
      ],
      expected: [
        ["docker.io/shop/a", "a-token@latest"],
        ["docker.io/shop/b", "b-token@latest"],
      ],
    },
    {
      name: "says the first part of the images that are Docker Hub's own",
      given: [
        ["nginx", "a-token"],
        ["shop/b", "b-token"],
      ],
      expected: [
        ["docker.io/library/nginx", "a-token@latest"],
        ["docker.io/shop/b", "b-token@latest"],
      ],
    },
  ])("$name", ({ given, expected }) => {
    const [backend, frontend] = given.map(([image, credential]) => of(image, credential));
    const plan = pullPlan({ ...(backend ? { backend } : {}), ...(frontend ? { frontend } : {}) });
    expect(pullStatus(plan)).toEqual(expected.map(([registry, source]) => ({ registry, source })));
  });
});

test("no more credentials are kept than the status holds: what served first stays", () => {
  const former = Array.from({ length: 20 }, (_, age) => ({ registry: `${age}.test`, source: "shop@1" }));
  const held = new Map(former.map(({ registry }) => [registry, new Sensitive("reader:old")]));
  const now = { registry: "now.test", source: "shop@2", credential: new Sensitive("reader:new") };
  const { credentials, pullSecret } = pullContents([now], former, held);
  expect(pullSecret.map(({ registry }) => registry)).toEqual([
    "now.test",
    ...former.slice(-15).map(({ registry }) => registry),
  ]);
  expect([...credentials.keys()]).toEqual(pullSecret.map(({ registry }) => registry));
});

describe("the Secret of image pulls", () => {
  const CREDENTIAL = 'reader:pä:ss"word';
  const credentials = new Map([
    ["registry.test:5000", new Sensitive(CREDENTIAL)],
    ["https://index.docker.io/v1/", new Sensitive("hub:token")],
  ]);
  const object = pullSecretObject(environmentFixture(), credentials);

  test("is one that the kubelet reads, and that is immutable", () => {
    expect(object).toMatchObject({
      kind: "Secret",
      type: "kubernetes.io/dockerconfigjson",
      immutable: true,
      metadata: { name: "image-pull", namespace: "env-shop" },
    });
  });

  test("holds exactly the registries, each with its user and password", () => {
    const { ".dockerconfigjson": text = "", ...others } = object.data as Record<string, string>;
    expect(others).toEqual({});
    expect(JSON.parse(Buffer.from(text, "base64").toString())).toEqual({
      auths: {
        "registry.test:5000": { auth: Buffer.from(CREDENTIAL).toString("base64") },
        "https://index.docker.io/v1/": { auth: Buffer.from("hub:token").toString("base64") },
      },
    });
  });

  test("is read back as it was made", () => {
    const read = [...credentialsIn(object)].map(([registry, credential]) => [registry, credential.reveal()]);
    expect(new Map(read as [string, string][])).toEqual(
      new Map([...credentials].map(([registry, credential]) => [registry, credential.reveal()])),
    );
  });

  test("is the same in any order", () => {
    expect(pullSecretObject(environmentFixture(), new Map([...credentials].reverse()))).toEqual(object);
  });

  test.each([undefined, "", "{", "null", "{}", '{"auths":{"a":{}}}'])("that holds %j is as none", (text) => {
    const data = text === undefined ? {} : { ".dockerconfigjson": Buffer.from(text).toString("base64") };
    expect(credentialsIn({ ...object, data })).toEqual(new Map());
  });
});
