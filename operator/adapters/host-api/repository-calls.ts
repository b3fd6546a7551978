import type { HostRequest } from "../../ports/host-technology.ts";
import type { CommitReport, HostedRepository, PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";
import { putComment } from "./sticky-comment.ts";

interface Differences {
  /** Comments per page; `undefined`: the host lists all at once. */
  readonly pageSize: number | undefined;
  readonly self: (signal: AbortSignal) => Promise<number>;
}

interface Comment {
  readonly id: number;
  readonly body?: string | null;
  readonly user?: { readonly id: number } | null;
}

/**
 * Statuses and comments by the API that GitHub and Gitea share: https://docs.github.com/en/rest/commits/statuses,
 * https://docs.github.com/en/rest/issues/comments, https://docs.gitea.com/api/1.25/#tag/issue.
 */
export function repositoryCalls(
  request: HostRequest,
  { pageSize, self }: Differences,
): Pick<PullRequestHost, "report" | "comment"> {
  let known: number | undefined;
  return {
    async report(repository, { commit, context, state, description, url }: CommitReport, signal) {
      const target = url === undefined ? {} : { target_url: url };
      const values = { ...partsOf(repository), sha: commit, context, state, description, ...target };
      await request("POST /repos/{owner}/{repo}/statuses/{sha}", values, signal);
    },
    comment(repository, { number, ...comment }, signal) {
      const parts = partsOf(repository);
      const list = "/repos/{owner}/{repo}/issues/{number}/comments";
      return putComment(comment, {
        self: async () => {
          known ??= await self(signal);
          return known;
        },
        async page(page) {
          if (pageSize === undefined && page > 1) return undefined;
          const paging = pageSize === undefined ? {} : { page, per_page: pageSize };
          const found = await request<readonly Comment[]>(`GET ${list}`, { ...parts, number, ...paging }, signal);
          if (found.length === 0) return undefined;
          return found.map(({ id, body, user }) => ({ id, text: body ?? "", author: user?.id }));
        },
        create: async (body) => (await request<{ id: number }>(`POST ${list}`, { ...parts, number, body }, signal)).id,
        edit: (id, body) => request("PATCH /repos/{owner}/{repo}/issues/comments/{id}", { ...parts, id, body }, signal),
      });
    },
  };
}

/** Id of the token's user. */
export async function userOf(request: HostRequest, signal: AbortSignal): Promise<number> {
  return (await request<{ id: number }>("GET /user", {}, signal)).id;
}

/** Owner and name in a repository's full name. */
export function partsOf({ fullName }: HostedRepository): { readonly owner: string; readonly repo: string } {
  const [owner = "", repo = ""] = fullName.split("/");
  return { owner, repo };
}
