import type { HostRequest } from "../../ports/host-technology.ts";
import type { HostedRepository, PullRequestHost, StickyComment } from "../../ports/webhooks/pull-request-host.ts";
import { unlessAbsent } from "./host-api.ts";

/** Search limit: such a pull request gets another comment. */
const MOST_PAGES = 20;

interface Comment {
  readonly id: number;
  readonly body?: string | null;
  /** The author, in the words of GitHub and Gitea, and of GitLab. */
  readonly user?: { readonly id: number } | null;
  readonly author?: { readonly id: number } | null;
}

/** Comment API of one kind of host. */
interface CommentApi {
  /** Path of a pull request's comments. */
  readonly list: string;
  /** Route that edits one of them. */
  readonly edit: string;
  /** Values of the paths' placeholders, beside `number` and `id`. */
  readonly of: (repository: HostedRepository) => Readonly<Record<string, string>>;
  /** Query for a page, from 1; absent where the host lists all at once. */
  readonly paging?: (page: number) => Readonly<Record<string, string | number>>;
  /** Id of the token's user. */
  readonly self: (request: HostRequest, signal: AbortSignal) => Promise<number>;
}

/** Comments of pull requests by a host's API. */
export function commentCalls(
  request: HostRequest,
  { list, edit, of, paging, self }: CommentApi,
): PullRequestHost["comment"] {
  const editsByNumber = edit.includes("{number}");
  let selfId: number | undefined;
  return async (repository, comment, signal) => {
    const values = { ...of(repository), number: comment.number };
    // Octokit sends a value without a place in the route as part of the body.
    const place = editsByNumber ? values : of(repository);
    return putComment(comment, {
      change: (id, body) => request(edit, { ...place, id, body }, signal),
      create: async (body) => (await request<{ id: number }>(`POST ${list}`, { ...values, body }, signal)).id,
      async find() {
        selfId ??= await self(request, signal);
        for (let page = 1; page <= MOST_PAGES; page++) {
          const comments = await request<readonly Comment[]>(`GET ${list}`, { ...values, ...paging?.(page) }, signal);
          const own = comments.find((one) => isBy(one, selfId, comment.marker));
          if (own !== undefined || comments.length === 0 || paging === undefined) return own;
        }
        return undefined;
      },
    });
  };
}

function isBy({ user, author, body }: Comment, self: number | undefined, marker: string): boolean {
  return (user ?? author)?.id === self && body?.startsWith(marker) === true;
}

interface Calls {
  change(id: number, body: string): Promise<unknown>;
  create(body: string): Promise<number>;
  find(): Promise<Comment | undefined>;
}

/** Edits or writes our comment; never touches another author's. */
async function putComment({ id, marker, text, mayCreate }: StickyComment, { change, create, find }: Calls) {
  const body = `${marker}\n${text}`;
  if (id !== undefined && (await unlessAbsent(change(id, body).then(() => true)))) return id;
  const own = await find();
  if (own === undefined) return mayCreate ? create(body) : undefined;
  if (own.body !== body) await change(own.id, body);
  return own.id;
}

/**
 * Statuses and comments by the API that GitHub and Gitea share: https://docs.github.com/en/rest/commits/statuses,
 * https://docs.github.com/en/rest/issues/comments, https://docs.gitea.com/api/1.25/#tag/issue.
 */
export function repositoryCalls(
  request: HostRequest,
  differences: Pick<CommentApi, "paging" | "self">,
): Pick<PullRequestHost, "report" | "comment"> {
  return {
    async report(repository, { commit: sha, context, state, description, url }, signal) {
      const values = { ...partsOf(repository), sha, context, state, description, target_url: url };
      await request("POST /repos/{owner}/{repo}/statuses/{sha}", values, signal);
    },
    comment: commentCalls(request, {
      list: "/repos/{owner}/{repo}/issues/{number}/comments",
      edit: "PATCH /repos/{owner}/{repo}/issues/comments/{id}",
      of: partsOf,
      ...differences,
    }),
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
