import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { namespaceName } from "../../../crds/names.ts";
import type { RepositorySpec } from "../../../crds/repository/repository.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { backendOnly, COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const NEXT = "b".repeat(40);

async function given(spec: Partial<RepositorySpec>) {
  const repository = unique("sourced-");
  const name = unique("sourced-env-");
  await world.register(repository, spec);
  await world.create(name, { ...backendOnly, backend: { ...backendOnly.backend, repository } });
  await world.expectPhase(name, "ready");
  return { name, repository };
}

async function placeOf(environment: string) {
  const ref = { name: namespaceName(environment), namespace: "argocd" };
  const application = (await world.admin.find(applicationKind, ref)) as unknown as { spec: { source: object } };
  const project = (await world.admin.find(appProjectKind, ref)) as unknown as { spec: { sourceRepos: string[] } };
  const { helm: _, ...source } = application.spec.source as { helm: object };
  return { source, admitted: project.spec.sourceRepos };
}

const inGit = { repoUrl: "https://git.example.test/charts.git", path: "shop", revision: "v1" };
const inHelm = { repoUrl: "https://charts.example.test/stable", chart: "shop", version: "1.2.3" };
const inOci = { repoUrl: "oci://registry.example.test/charts", chart: "shop", version: "1.2.3+4" };
const sources = {
  git: { source: { repoURL: inGit.repoUrl, path: "shop", targetRevision: "v1" }, admitted: [inGit.repoUrl] },
  helm: { source: { repoURL: inHelm.repoUrl, chart: "shop", targetRevision: "1.2.3" }, admitted: [inHelm.repoUrl] },
  oci: {
    source: { repoURL: `${inOci.repoUrl}/shop`, path: ".", targetRevision: "1.2.3_4" },
    admitted: [`${inOci.repoUrl}/shop`],
  },
};

describe("the chart of an environment", () => {
  test("moves from git to a Helm repository, to an OCI registry and back, each time pinned by the project", async () => {
    const { name, repository } = await given({ chart: inGit });
    expect(await placeOf(name)).toEqual(sources.git);
    const moves = [
      {
        to: { repoUrl: inHelm.repoUrl, path: null, revision: null, chart: "shop", version: "1.2.3" },
        is: sources.helm,
      },
      { to: { repoUrl: inOci.repoUrl, version: inOci.version }, is: sources.oci },
      { to: { ...inGit, chart: null, version: null }, is: sources.git },
    ];
    for (const { to, is } of moves) {
      const ref = { name: repository, namespace: "ephemeral-system" };
      await world.admin.patch(repositoryType, ref, { spec: { chart: to } }, { as: "merge" });
      const hasMoved = async () => isDeepStrictEqual((await placeOf(name)).source, is.source);
      await until(hasMoved, { what: `the chart at ${to.repoUrl}`, deadlineMs: 30_000 });
      expect(await placeOf(name)).toEqual(is);
      await world.expectPhase(name, "ready");
    }
  }, 90_000);

  test("beside the code is that of the commit, and moves with it in one write", async () => {
    const cloneUrl = "https://git.example.test/shop.git";
    const { name } = await given({ cloneUrl, chart: { repoUrl: cloneUrl, path: "chart", revision: "{commit}" } });
    expect(await placeOf(name)).toEqual({
      source: { repoURL: cloneUrl, path: "chart", targetRevision: COMMIT },
      admitted: [cloneUrl],
    });
    await world.admin.patch(environmentType, { name }, { spec: { backend: { commit: NEXT } } }, { as: "merge" });
    const isNext = async () => JSON.stringify((await placeOf(name)).source).includes(NEXT);
    await until(isNext, { what: "the chart of the next commit", deadlineMs: 30_000 });
    // The environment is still ready with the former one for a moment.
    await world.expectState(name, "moved", ({ status }) => status?.components?.backend?.commit === NEXT);
  }, 60_000);
});
