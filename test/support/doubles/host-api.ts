import { githubAnswer, githubContract } from "./github-rest/contract.ts";
import { type HookLog, hookLogRoutes } from "./hook-log.ts";
import { type HostPull, pullRequestRoutes } from "./host-pull-requests.ts";
import { ABSENT, type Routes, startRecordingHost } from "./recording-host.ts";

export interface HostComment {
  readonly id: number;
  body: string;
  readonly user: { readonly id: number };
}

export interface HostDeployment {
  readonly id: number;
  readonly sha: string;
  readonly environment: string;
  readonly task: string;
  readonly states: string[];
}

/** The account id of the token. */
export const SELF = 7;

/**
 * The called part of a repository host's API, on loopback: comments of the pull request 42, the pull requests, GitHub's log
 * of hooks. GitHub and Gitea have the same paths; Gitea's begin with `/api/v1`. Unknown requests are answered 404. GitHub's
 * answers are checked against its published API.
 */
export async function startHostApi(kind: "gitea" | "github") {
  const statuses: Record<string, unknown>[] = [];
  const comments: HostComment[] = [];
  const deployments: HostDeployment[] = [];
  const environments = new Set<string>();
  const pulls: HostPull[] = [];
  const log: HookLog = { hooks: [], attempts: [], repeated: [] };
  let ids = 100;
  const deploymentOf = (id = "") => deployments.find((one) => one.id === Number(id));

  const routes: Routes = [
    [/^GET \/user$/, () => ({ status: 200, body: { id: SELF } })],
    [/^POST \/graphql$/, () => ({ status: 200, body: { data: { viewer: { databaseId: SELF } } } })],
    [
      /^POST \/repos\/shop\/[^/]+\/statuses\/(\w+)$/,
      ({ body }, [sha]) => {
        statuses.push({ ...body, sha });
        return { status: 201, body: {} };
      },
    ],
    [
      /^GET \/repos\/shop\/[^/]+\/issues\/42\/comments(\?.*)?$/,
      (_call, [query = ""]) => ({ status: 200, body: /[?&]page=([2-9]|\d\d)/.test(query) ? [] : comments }),
    ],
    [
      /^POST \/repos\/shop\/[^/]+\/issues\/42\/comments$/,
      ({ body }) => {
        ids += 1;
        comments.push({ id: ids, body: String(body.body), user: { id: SELF } });
        return { status: 201, body: { id: ids } };
      },
    ],
    [
      /^PATCH \/repos\/shop\/[^/]+\/issues\/comments\/(\d+)$/,
      ({ body }, [id]) => {
        const found = comments.find((comment) => comment.id === Number(id));
        if (found === undefined) return ABSENT;
        found.body = String(body.body);
        return { status: 200, body: { id: found.id } };
      },
    ],
    [
      /^GET \/repos\/shop\/[^/]+\/deployments\?(.*)$/,
      (_call, [query]) => {
        const requested = new URLSearchParams(query);
        const fits = (one: HostDeployment) =>
          one.environment === requested.get("environment") && one.task === requested.get("task");
        return { status: 200, body: deployments.filter(fits) };
      },
    ],
    [
      /^POST \/repos\/shop\/[^/]+\/deployments$/,
      ({ body }) => {
        ids += 1;
        const environment = String(body.environment);
        environments.add(environment);
        deployments.push({ id: ids, sha: String(body.ref), environment, task: String(body.task), states: [] });
        return { status: 201, body: { id: ids, sha: body.ref } };
      },
    ],
    [
      /^POST \/repos\/shop\/[^/]+\/deployments\/(\d+)\/statuses$/,
      ({ body }, [id]) => {
        const found = deploymentOf(id);
        found?.states.push(String(body.state));
        return found === undefined ? ABSENT : { status: 201, body: {} };
      },
    ],
    [
      /^DELETE \/repos\/shop\/[^/]+\/deployments\/(\d+)$/,
      (_call, [id]) => {
        const found = deploymentOf(id);
        if (found === undefined) return ABSENT;
        // https://docs.github.com/en/rest/deployments/deployments#delete-a-deployment
        if (found.states.at(-1) !== "inactive") return { status: 422, body: { message: "is active" } };
        deployments.splice(deployments.indexOf(found), 1);
        return { status: 204 };
      },
    ],
    [
      /^DELETE \/repos\/shop\/[^/]+\/environments\/([^/]+)$/,
      (_call, [name = ""]) => (environments.delete(decodeURIComponent(name)) ? { status: 204 } : ABSENT),
    ],
    ...pullRequestRoutes(pulls),
    ...hookLogRoutes(log),
  ];

  const host = await (kind === "gitea"
    ? startRecordingHost(routes, "/api/v1")
    : startRecordingHost(inFull(routes), "", githubContract));
  return { ...host, statuses, comments, deployments, environments, pulls, log };
}

export type HostApiDouble = Awaited<ReturnType<typeof startHostApi>>;

const inFull = (routes: Routes): Routes =>
  routes.map(([pattern, route]) => [pattern, (call, parts) => githubAnswer(call, route(call, parts))]);
