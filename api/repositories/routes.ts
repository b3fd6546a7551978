import { UnknownRepository } from "../../crds/errors.ts";
import { mayRead } from "../auth/access.ts";
import { feature, route } from "../route.ts";
import { byName, PageQuery, toPage } from "../schemas/page.ts";
import { ReloadReport, RepositoryPage, RepositoryPath, RepositoryReport } from "./schemas.ts";
import { toReload, toRepository } from "./views.ts";

const listRepositories = route({
  endpoint: "GET /api/repos",
  summary: "List repositories",
  description:
    "The registered repositories that the caller may use, by name; all of them for callers who may reload them.",
  access: { permission: "repos:read" },
  query: PageQuery,
  reply: RepositoryPage,
  links: { "/api/repos/{id}": "/items/0/id" },
})(({ query, caller }, { repositories, settings }) => {
  const visible = repositories.list().filter((repository) => mayRead(caller, repository, "repos:reload"));
  return toPage(visible.sort(byName), query, (repository) => toRepository(repository, settings));
});

/** Shows an unreadable Repository as an unknown one. */
const getRepository = route({
  endpoint: "GET /api/repos/{id}",
  summary: "Get a repository",
  description: "The configuration of a repository, and the result of its last check.",
  access: { permission: "repos:read" },
  params: RepositoryPath,
  reply: RepositoryReport,
  errors: ["ENV_REPO_NOT_FOUND", "not-found"],
})(({ params, caller }, { repositories, settings }) => {
  const found = repositories.find(params.id);
  if (found === undefined || !mayRead(caller, found, "repos:reload")) throw new UnknownRepository();
  return toRepository(found, settings);
});

const reloadRepositories = route({
  endpoint: "POST /api/repos/reload",
  summary: "Reload the repositories",
  description:
    "Has every repository checked (whether its host answers, whether its rules are consistent), waits up to 20 seconds (after the end of a reload that is already running), and reports the differences from the reload before. A repository with an error stays as it was.",
  access: { permission: "repos:reload" },
  auditTarget: () => "repositories",
  reply: ReloadReport,
})(async (_input, { repositoryReloads }) => toReload(await repositoryReloads.reload()));

export const repositoryRoutes = feature(
  "repositories",
  { listRepositories, reloadRepositories, getRepository },
  { envelope: "always" },
);
