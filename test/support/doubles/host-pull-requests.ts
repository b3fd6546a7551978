import { ABSENT, type HostAnswer, type Routes } from "./recording-host.ts";

/** A pull request of a test; absent fields have usual values. */
export interface HostPull {
  readonly number: number;
  readonly state?: "open" | "closed";
  readonly merged?: boolean;
  readonly draft?: boolean;
  readonly labels?: readonly string[];
  readonly branch?: string;
  readonly commit?: string;
  readonly base?: string;
  readonly isFork?: boolean;
  readonly updatedAt?: string;
}

export const PULL_COMMIT = "a".repeat(40);
const UPDATED_AT = "2026-01-01T00:00:00Z";

/** A pull request in GitHub's and Gitea's form; GitHub's lists lack the merge state. */
function shown(pull: HostPull, { inList }: { readonly inList: boolean }) {
  const { number, state = "open", merged = false, draft = false, labels = [], base = "main" } = pull;
  const { branch = "feature", commit = PULL_COMMIT, isFork = false, updatedAt = UPDATED_AT } = pull;
  return {
    id: 1e3 + number,
    number,
    state,
    draft,
    updated_at: updatedAt,
    user: { id: 1, login: "dev" },
    ...(inList ? {} : { merged }),
    labels: labels.map((name, index) => ({ id: index, name })),
    head: { ref: branch, sha: commit, repo: { id: isFork ? 2 : 1, full_name: isFork ? "dev/shop" : "shop/shop" } },
    base: { ref: base, repo: { id: 1, full_name: "shop/shop" } },
    requested_teams: [],
  };
}

/** A merge request in GitLab's form. */
export function shownByGitlab(pull: HostPull) {
  const { number, state = "open", merged = false, draft = false, labels = [], base = "main" } = pull;
  const { branch = "feature", commit = PULL_COMMIT, isFork = false, updatedAt = UPDATED_AT } = pull;
  const closed = merged ? "merged" : "closed";
  return {
    id: 1e3 + number,
    iid: number,
    state: state === "open" ? "opened" : closed,
    draft,
    labels,
    sha: commit,
    source_branch: branch,
    target_branch: base,
    target_project_id: 1,
    source_project_id: isFork ? 2 : 1,
    updated_at: updatedAt,
    author: { id: 1, username: "dev" },
  };
}

/** The two hosts' sort orders and page sizes; other queries are refused. */
const QUERIES = [
  { only: ["state", "sort", "direction", "per_page", "page"], sort: "updated", size: "per_page", most: 100 },
  { only: ["state", "sort", "limit", "page"], sort: "recentupdate", size: "limit", most: 50 },
] as const;

/** The page of a list, last changed first; 422 for an unknown query. */
export function pageOf(pulls: readonly HostPull[], query: string): HostAnswer {
  const requested = new URLSearchParams(query);
  const known = QUERIES.find(({ only, sort }) => {
    const isKnown = [...requested.keys()].every((key) => (only as readonly string[]).includes(key));
    return isKnown && requested.get("sort") === sort && requested.get("state") === "open";
  });
  if (known === undefined) return { status: 422, body: { message: `the query ${query} is not known` } };
  const size = Math.min(Number(requested.get(known.size)), known.most);
  const from = (Number(requested.get("page")) - 1) * size;
  const open = openOnes(pulls).slice(from, from + size);
  return { status: 200, body: open.map((pull) => shown(pull, { inList: true })) };
}

/** Open pull requests, last changed first. */
export const openOnes = (pulls: readonly HostPull[]): HostPull[] =>
  pulls
    .filter(({ state = "open" }) => state === "open")
    .sort((one, other) => Date.parse(other.updatedAt ?? UPDATED_AT) - Date.parse(one.updatedAt ?? UPDATED_AT));

/** The common routes of GitHub and Gitea for pull requests, for every repository of the owner `shop`. */
export function pullRequestRoutes(pulls: readonly HostPull[]): Routes {
  return [
    [/^GET \/repos\/shop\/[^/]+\/pulls\?(.*)$/, (_call, [query = ""]) => pageOf(pulls, query)],
    [
      /^GET \/repos\/shop\/[^/]+\/pulls\/(\d+)$/,
      (_call, [number]) => {
        const found = pulls.find((pull) => pull.number === Number(number));
        return found === undefined ? ABSENT : { status: 200, body: shown(found, { inList: false }) };
      },
    ],
  ];
}
