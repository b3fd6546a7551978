import type { HostRequest } from "../../ports/host-technology.ts";
import type { HostedRepository, PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";
import { answeredStatus, unlessAbsent } from "../host-api/host-api.ts";
import { partsOf } from "../host-api/repository-calls.ts";

/** Distinguishes our deployments from other programs' in an environment of the same name. */
const TASK = "deploy:ephemeral-environment";
const STATES = { pending: "in_progress", success: "success", failure: "failure" } as const;
const ONE = "/repos/{owner}/{repo}/deployments/{id}";

interface Deployment {
  readonly id: number;
  readonly sha: string;
}

/**
 * Deployments of GitHub, https://docs.github.com/en/rest/deployments/deployments: one at a time, of the head commit,
 * because GitHub does not end earlier ones of a transient environment.
 */
export function githubDeployments(request: HostRequest): Pick<PullRequestHost, "deploy" | "retire"> {
  const list = (repository: HostedRepository, environment: string, signal: AbortSignal) => {
    const asked = { ...partsOf(repository), environment, task: TASK, per_page: 100 };
    return request<readonly Deployment[]>("GET /repos/{owner}/{repo}/deployments", asked, signal);
  };
  const end = async (repository: HostedRepository, { id }: Deployment, signal: AbortSignal) => {
    const one = { ...partsOf(repository), id };
    // GitHub deletes only inactive ones.
    await unlessAbsent(request(`POST ${ONE}/statuses`, { ...one, state: "inactive" }, signal));
    await unlessAbsent(request(`DELETE ${ONE}`, one, signal));
  };
  return {
    async deploy(repository, { environment, commit, state, description, url }, signal) {
      const known = await list(repository, environment, signal);
      const found = known.find(({ sha }) => sha === commit);
      const { id } = found ?? (await create(request, { repository, environment, commit, signal }));
      const address = url === undefined ? {} : { environment_url: url };
      const status = { state: STATES[state], description, auto_inactive: false, ...address };
      await request(`POST ${ONE}/statuses`, { ...partsOf(repository), id, ...status }, signal);
      for (const other of known) if (other.sha !== commit) await end(repository, other, signal);
    },
    async retire(repository, environment, signal) {
      const known = await list(repository, environment, signal);
      for (const deployment of known) await end(repository, deployment, signal);
      if (known.length > 0) await removeEnvironment(request, { repository, environment, signal });
    },
  };
}

interface Place {
  readonly repository: HostedRepository;
  readonly environment: string;
  readonly signal: AbortSignal;
}

function create(
  request: HostRequest,
  { repository, environment, commit, signal }: Place & { readonly commit: string },
): Promise<Deployment> {
  const kind = { transient_environment: true, production_environment: false };
  // Neither merges the base branch nor waits for other checks.
  const asIs = { auto_merge: false, required_contexts: [] };
  const wanted = { ref: commit, task: TASK, environment, ...kind, ...asIs };
  return request("POST /repos/{owner}/{repo}/deployments", { ...partsOf(repository), ...wanted }, signal);
}

/** Needs the right to administer the repository: without it the empty environment stays. */
async function removeEnvironment(request: HostRequest, { repository, environment, signal }: Place): Promise<void> {
  const route = "DELETE /repos/{owner}/{repo}/environments/{environment}";
  try {
    await unlessAbsent(request(route, { ...partsOf(repository), environment }, signal));
  } catch (error) {
    if (answeredStatus(error) !== 403) throw error;
  }
}
