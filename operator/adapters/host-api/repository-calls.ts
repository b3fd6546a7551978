import type { HostRequest } from "../../ports/host-technology.ts";
import type {
  CommitReport,
  HostedRepository,
  PullRequestHost,
  StickyComment,
} from "../../ports/webhooks/pull-request-host.ts";
import { unlessAbsent } from "./host-api.ts";

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

/** A comment in its host's list. */
interface FoundComment {
  readonly id: number;
  readonly text: string;
  readonly author: number | undefined;
}

/** API calls for the comments of one pull request. */
interface CommentCalls {
  /** Answers our own id on the host. */
  self(): Promise<number>;
  /** Comments of a page, from 1; `undefined` without such a page. */
  page(page: number): Promise<readonly FoundComment[] | undefined>;
  create(text: string): Promise<number>;
  /** @throws PullRequestHostFailed with the status 404 when it is gone */
  edit(id: number, text: string): Promise<unknown>;
}

/** Search limit: such a pull request gets another comment. */
const MOST_PAGES = 20;

/** Edits or writes the comment; answers its id. Never touches another author's comment. */
export async function putComment(
  { id, marker, text, mayCreate }: Omit<StickyComment, "number">,
  calls: CommentCalls,
): Promise<number | undefined> {
  const whole = `${marker}\n${text}`;
  if (id !== undefined && (await unlessAbsent(calls.edit(id, whole).then(() => true)))) return id;
  const found = await search(marker, calls);
  if (found !== undefined) {
    if (found.text !== whole) await calls.edit(found.id, whole);
    return found.id;
  }
  return mayCreate ? calls.create(whole) : undefined;
}

async function search(marker: string, calls: CommentCalls): Promise<FoundComment | undefined> {
  const self = await calls.self();
  for (let number = 1; number <= MOST_PAGES; number++) {
    const comments = await calls.page(number);
    const found = comments?.find(({ text, author }) => author === self && text.startsWith(marker));
    if (found !== undefined || comments === undefined) return found;
  }
  return undefined;
}
