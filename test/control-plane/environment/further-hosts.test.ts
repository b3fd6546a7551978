import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { RepositorySpec } from "../../../crds/repository/repository.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { UrlProber } from "../../../operator/ports/url-prober.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let silent: readonly string[] = [];
const requested = new Set<string>();
const prober: UrlProber = {
  async probe(url, path) {
    requested.add(url + path);
    const isSilent = silent.some((name) => url.includes(`--${name}.`));
    return isSilent
      ? { status: "unreachable", responseTimeMs: 1, message: "ECONNREFUSED" }
      : { status: "healthy", responseTimeMs: 1, message: "it answered 200" };
  },
};

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator({ prober });
}, 180_000);
afterAll(() => world.stop(), 60_000);
beforeEach(() => {
  silent = [];
});

const values =
  "host: ${backend.host}\nadmin: {host: '${hosts.admin}', url: '${hosts.admin.url}'}\nother: ${hosts.docs}";
const chart = { repoUrl: "https://git.example.test/c.git", path: ".", revision: "main", values };
const admin = { name: "admin", healthPath: "/ping" };
const urlOf = (name: string, label: string) => `https://${name}--${label}.env.localhost:18443`;

async function given(hosts: RepositorySpec["hosts"] & object) {
  const repository = unique("hosted-");
  const name = unique("hosted-env-");
  await world.register(repository, { chart, hosts });
  const made = await world.create(name, { backend: { ...backendOnly.backend, repository } });
  const list = (listed: RepositorySpec["hosts"] & object) =>
    world.admin.patch(
      repositoryType,
      { name: repository, namespace: "ephemeral-system" },
      { spec: { hosts: listed } },
      { as: "merge" },
    );
  return { name, made, list };
}

async function valuesOf(name: string): Promise<object | undefined> {
  const found = await world.admin.find(applicationKind, { name: namespaceName(name), namespace: "argocd" });
  return (found?.spec as { source: { helm: { valuesObject: object } } } | undefined)?.source.helm.valuesObject;
}

test("a further host of the Repository is in the chart's values and among the URLs, and is asked", async () => {
  const { name } = await given([admin]);
  const { status } = await world.expectPhase(name, "ready");
  expect(status?.urls).toEqual({ backend: urlOf(name, "api"), hosts: { admin: urlOf(name, "admin") } });
  expect(status?.url).toBe(urlOf(name, "api"));
  expect([...requested]).toEqual(expect.arrayContaining([`${urlOf(name, "api")}/`, `${urlOf(name, "admin")}/ping`]));
  expect(await valuesOf(name)).toEqual({
    host: `${name}--api.env.localhost`,
    admin: { host: `${name}--admin.env.localhost`, url: urlOf(name, "admin") },
  });
}, 60_000);

test("an environment is not ready before its further hosts answer, and says which does not", async () => {
  silent = ["admin"];
  const { name } = await given([admin, { name: "docs" }]);
  const isWaiting = await world.expectState(
    name,
    "waiting for a host",
    ({ status }) => findCondition(status?.conditions, "UrlsReady")?.reason === "NotAnswering",
  );
  expect(isWaiting.status?.phase).toBe("creating");
  const { message = "" } = findCondition(isWaiting.status?.conditions, "UrlsReady") ?? {};
  expect(message).toContain(`host 'admin': ${urlOf(name, "admin")}/ping is unreachable: ECONNREFUSED; check`);
  expect(message).not.toContain("docs");
  silent = [];
  await world.expectPhase(name, "ready");
}, 60_000);

test("hosts that are listed later are served and asked, and those that are not any more are gone", async () => {
  const { name, made, list } = await given([admin]);
  await world.expectPhase(name, "ready");
  await list([{ name: "docs" }]);
  await until(async () => requested.has(`${urlOf(name, "docs")}/`), { what: "a probe", deadlineMs: 30_000 });
  const moved = await world.expectState(name, "serving the new host", ({ status }) => {
    return status?.phase === "ready" && status.urls?.hosts?.docs !== undefined;
  });
  expect(moved.status?.urls).toEqual({ backend: urlOf(name, "api"), hosts: { docs: urlOf(name, "docs") } });
  expect(await valuesOf(name)).toEqual({
    host: `${name}--api.env.localhost`,
    admin: {},
    other: `${name}--docs.env.localhost`,
  });
  await list([]);
  const without = await world.expectState(
    name,
    "without further hosts",
    ({ status }) => status?.urls?.hosts === undefined,
  );
  expect(without.status?.urls).toEqual({ backend: urlOf(name, "api") });
  await world.delete(made);
  await world.expectGone(made);
}, 120_000);
