import type { Clock } from "../kit/time/clock.ts";
import type { PullRequestHost, PullRequestReader } from "./webhooks/pull-request-host.ts";
import type { RepositoryHooks } from "./webhooks/repository-hooks.ts";
import type { WebhookFormat } from "./webhooks/webhook-format.ts";

/** A request to the API of a host: `POST /repos/{owner}/{repo}/issues`, the values of its braces and of its body. */
export type HostRequest = <T>(route: string, values: RequestValues, signal: AbortSignal) => Promise<T>;
/** `data` is a whole body. Octokit would send the request, and the token, to a value of these names. */
export type RequestValues = Readonly<Record<string, unknown>> & { readonly url?: never; readonly baseUrl?: never };

/** A page of a list that is not counted in numbers. */
export interface CursorPage<T> {
  readonly items: T;
  /** The cursor of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

/** The API of one host of the settings, with its token. Every call throws PullRequestHostFailed. */
export interface HostApi {
  readonly request: HostRequest;
  /** The same for lists with cursors: of the address of the next page only the cursor is read. */
  readonly page: <T>(route: string, values: RequestValues, signal: AbortSignal) => Promise<CursorPage<T>>;
  close(): Promise<void>;
}

/** One of the kinds of hosts that `settings.hosts[].kind` chooses from: all that the platform needs of it. */
export interface HostTechnology {
  readonly format: WebhookFormat;
  /** True where the host's documentation asks for pauses between writes. */
  readonly spacesWrites: boolean;
  reporter(api: HostApi): PullRequestHost;
  reader(api: HostApi, clock: Clock): PullRequestReader;
  hooks(api: HostApi): RepositoryHooks;
}

/** Counts of a host's API calls since the start of this process. */
export interface HostCallCounts {
  /** Requests, each attempt counted. */
  readonly sent: number;
  /** Responses by class, such as `2xx`; `304`, which costs nothing of GitHub's limit; `none` without a response. */
  readonly answers: Readonly<Record<string, number>>;
  /** Responses that stopped calls for a while by rate limiting. */
  readonly limited: number;
  /** Least value seen in this window; `undefined` for a host without limits, such as Gitea. */
  readonly budget: CallBudget | undefined;
}

/** A host's rate limit. */
export interface CallBudget {
  readonly limit: number;
  readonly remaining: number;
  /** Time at which `remaining` is `limit` again. */
  readonly resetsAt: Date;
}

/** Calls to repository hosts, for metrics. */
export interface HostCalls {
  /** Current counts, by the host's id in the settings. A host without a token is never called, and absent. */
  snapshot(): Readonly<Record<string, HostCallCounts>>;
}
