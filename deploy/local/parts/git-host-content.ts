import { gitHostUrl } from "../addresses.ts";
import { git, type LocalRepositories, type LocalRepository } from "../repositories.ts";
import type { GitHostAdministrator } from "./git-host.ts";

const organization = "platform";

/**
 * Pushes the repositories to the git host. The chart always follows the checkout; the sample's repositories are
 * pushed once, so that what somebody pushed there while trying things out stays.
 */
export async function publishRepositories(who: GitHostAdministrator, repositories: LocalRepositories): Promise<void> {
  await ensureOrganization(who);
  const { chart, backend, frontend } = repositories;
  await Promise.all([
    push(who, chart, (remote) => remote !== chart.commit),
    ...[backend, frontend].map((repository) => push(who, repository, (remote) => remote === undefined)),
  ]);
}

async function ensureOrganization(who: GitHostAdministrator): Promise<void> {
  const known = await api(who, "GET", `/orgs/${organization}`);
  if (known.ok) return;
  const made = await api(who, "POST", "/orgs", { username: organization, visibility: "public" });
  if (!made.ok) throw new Error(`the git host refused the organization ${organization}: ${await made.text()}`);
}

async function push(
  who: GitHostAdministrator,
  repository: LocalRepository,
  wanted: (remoteHead: string | undefined) => boolean,
): Promise<void> {
  if (!wanted(await remoteHead(who, repository))) return;
  // By environment: arguments can be read by everybody on the machine.
  const credentials = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "http.extraHeader", GIT_CONFIG_VALUE_0: header(who) };
  await git(repository.folder, ["push", "--quiet", "--force", repository.url, "main"], credentials);
}

async function remoteHead(who: GitHostAdministrator, { name }: LocalRepository): Promise<string | undefined> {
  const reply = await api(who, "GET", `/repos/${organization}/${name}/branches/main`);
  if (reply.status === 404) return undefined;
  if (!reply.ok) throw new Error(`the git host answered ${reply.status} for the repository ${name}`);
  return ((await reply.json()) as { commit: { id: string } }).commit.id;
}

function api(who: GitHostAdministrator, method: string, path: string, body?: object): Promise<Response> {
  const [name = "", value = ""] = header(who).split(": ");
  return fetch(`${gitHostUrl}/api/v1${path}`, {
    method,
    headers: { [name]: value, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
}

function header({ name, password }: GitHostAdministrator): string {
  return `Authorization: Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}
