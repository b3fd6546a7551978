import { UnknownRepository } from "../../crds/errors.ts";
import { mayRead } from "../auth/access.ts";
import { route } from "../route.ts";
import { PageQuery } from "../schemas/page.ts";
import { toPage } from "../views/page.ts";
import { ReloadReport, RepositoryPage, RepositoryPath, RepositoryReport } from "./schemas.ts";
import { toReload, toRepository } from "./views.ts";

const ofRepositories = { tag: "repositories", rate: "caller", envelope: "always" } as const;
const readers = { permission: "repos:read" } as const;

/** A page of the Repositories that the caller may know of, by name. */
const listRepositories = route({
  ...ofRepositories,
  method: "get",
  path: "/api/repos",
  operationId: "listRepositories",
  summary: "List repositories",
  description: "The registered repositories that the caller may use, by name. Only those who may reload them see all.",
  access: readers,
  query: PageQuery,
  reply: RepositoryPage,
  links: { "/api/repos/{id}": "/items/0/id" },
  refusals: [],
})(({ query, caller }, { repositories, settings }) => {
  const visible = repositories.list().filter((repository) => mayRead(caller, repository, "repos:reload"));
  const sorted = visible.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const page = toPage(sorted, query);
  return { ...page, items: page.items.map((repository) => toRepository(repository, settings)) };
});

/** One Repository in full; one that the caller may not know of is answered exactly like one that does not exist. */
const getRepository = route({
  ...ofRepositories,
  method: "get",
  path: "/api/repos/{id}",
  operationId: "getRepository",
  summary: "Get a repository",
  description: "The configuration of a repository, and how its last check went.",
  access: readers,
  params: RepositoryPath,
  reply: RepositoryReport,
  refusals: ["ENV_REPO_NOT_FOUND"],
  refuses: ["not-found"],
})(({ params, caller }, { repositories, settings }) => {
  const found = repositories.find(params.id);
  if (found === undefined || !mayRead(caller, found, "repos:reload")) throw new UnknownRepository();
  return toRepository(found, settings);
});

/** Has all of them checked now. */
const reloadRepositories = route({
  ...ofRepositories,
  method: "post",
  path: "/api/repos/reload",
  operationId: "reloadRepositories",
  summary: "Reload the repositories",
  description:
    "Has every repository checked (whether its host answers, whether its rules hold together), waits up to 20 seconds (after the end of a reload that goes on already), and tells what differs from the reload before. A repository with an error stays as it was.",
  access: { permission: "repos:reload" },
  auditTarget: () => "repositories",
  reply: ReloadReport,
  refusals: [],
})(async (_input, { repositoryReloads }) => toReload(await repositoryReloads.reload()));

export const repositoryRoutes = [listRepositories, reloadRepositories, getRepository] as const;
