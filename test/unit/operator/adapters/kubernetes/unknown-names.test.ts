import { expect, test } from "@jest/globals";
import type { ConfigSet } from "../../../../../crds/config-set.ts";
import { ClusterUnavailable } from "../../../../../crds/errors.ts";
import type { Repository } from "../../../../../crds/repository/repository.ts";
import { kubernetesUnknownNames } from "../../../../../operator/adapters/kubernetes/unknown-names.ts";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import type { CallOptions } from "../../../../../operator/kit/client/kube-client.ts";
import type { ObjectRef } from "../../../../../operator/kit/client/objects.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

const namespace = "ephemeral-system";

/** An API server that has nothing, and answers later. */
async function rig() {
  const clock = new TestClock("2026-06-01T12:00:00Z");
  const caches = { repositories: createObjectCache<Repository>(), configSets: createObjectCache<ConfigSet>() };
  for (const cache of Object.values(caches)) {
    await cache.replace({ items: new Map(), resourceVersion: "1" }, cache.beginList());
  }
  const requested: string[] = [];
  const open: (() => void)[] = [];
  const client = {
    find: (_type: unknown, { name }: ObjectRef, { signal }: CallOptions = {}) => {
      requested.push(name);
      return new Promise<undefined>((resolve, reject) => {
        open.push(() => resolve(undefined));
        signal?.addEventListener("abort", () => reject(aborted()));
      });
    },
  };
  const answerAll = () => {
    for (const answer of open.splice(0)) answer();
  };
  return { clock, requested, answerAll, names: kubernetesUnknownNames({ client, caches, namespace, clock }) };
}

const aborted = () => new KubeError({ status: 0, reason: "Aborted" });

test("at most four names are requested at a time, each once", async () => {
  const { names, requested, answerAll } = await rig();
  const guesses = ["one", "two", "three", "four", "five", "six", "one"];
  const looks = guesses.map((name) => names.lookUp("repository", `${name}-api`));
  expect(requested).toEqual(["one-api", "two-api", "three-api", "four-api"]);
  answerAll();
  await Promise.all(looks);
  const next = names.lookUp("repository", "five-api");
  expect(requested).toHaveLength(5);
  answerAll();
  await next;
});

test("an absent name is not requested again within a second", async () => {
  const { names, requested, answerAll, clock } = await rig();
  const look = () => {
    const looking = names.lookUp("configSet", "web");
    answerAll();
    return looking;
  };
  await look();
  clock.advance(999);
  await look();
  expect(requested).toEqual(["web"]);
  clock.advance(1);
  await look();
  expect(requested).toEqual(["web", "web"]);
});

test.each(["https://evil.test", "../secrets", "reload", "x", ""])(
  "%j is no name, and is never requested",
  async (name) => {
    const { names, requested } = await rig();
    await names.lookUp("repository", name);
    expect(requested).toEqual([]);
  },
);

test("an API server that does not answer within two seconds is unavailable, and frees its place", async () => {
  const { names, requested, clock, answerAll } = await rig();
  const look = names.lookUp("repository", "late-api");
  const failed = expect(look).rejects.toBeInstanceOf(ClusterUnavailable);
  clock.advance(2_000);
  await failed;
  const again = names.lookUp("repository", "late-api");
  expect(requested).toHaveLength(2);
  answerAll();
  await again;
});
