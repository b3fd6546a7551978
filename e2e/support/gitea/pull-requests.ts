import { randomBytes } from "node:crypto";
import { list, type Resource } from "../kubectl.ts";
import { open } from "../page.ts";
import { waitUntil } from "../wait.ts";
import { administrator, deadline, giteaUrl, remove, send } from "./gitea.ts";
import { pushImage } from "./image.ts";

const api = `${giteaUrl}/api/v1/repos/shop/backend`;
const REPOSITORY = "shop-backend";

export type Delivery = Resource<{
  readonly spec: {
    readonly source: string;
    readonly deliveryId: string;
    readonly digest: string;
    readonly event: {
      readonly type: string;
      readonly pullRequest?: { readonly number: number; readonly action: string; readonly headCommit: string };
      readonly pipeline?: { readonly commit: string; readonly status: string };
    };
  };
  readonly status?: { readonly phase: string; readonly reason: string };
}>;

/** A pull request of the shop's backend, with a branch of its own. */
export class PullRequest {
  readonly number: number;
  readonly branch: string;

  private constructor(number: number, branch: string) {
    this.number = number;
    this.branch = branch;
  }

  /** Opens a pull request whose head is a commit of this test. */
  static async open(): Promise<{ readonly pull: PullRequest; readonly commit: string }> {
    const branch = `e2e-${randomBytes(4).toString("hex")}`;
    const commit = await commitTo(branch, { branch: "main", new_branch: branch });
    const reply = await send("POST", `${api}/pulls`, { head: branch, base: "main", title: `Try ${branch}` });
    const { number } = (await reply.json()) as { number: number };
    return { pull: new PullRequest(number, branch), commit };
  }

  /** The expected name of its environment. */
  get environment(): string {
    return `${REPOSITORY}-pr-${this.number}`;
  }

  push(): Promise<string> {
    return commitTo(this.branch, { branch: this.branch });
  }

  /** Closes the pull request without a merge; a closed one is fine. */
  async close(): Promise<void> {
    await send("PATCH", `${api}/pulls/${this.number}`, { state: "closed" });
  }

  async removeBranch(): Promise<void> {
    await remove(`${api}/branches/${this.branch}`);
  }

  async deliveries(): Promise<readonly Delivery[]> {
    const all = await storedDeliveries();
    return all.filter(({ spec }) => spec.event.pullRequest?.number === this.number);
  }

  async comments(): Promise<readonly Comment[]> {
    return (await (await send("GET", `${api}/issues/${this.number}/comments`)).json()) as Comment[];
  }

  /** The statuses of one of its commits, newest first. */
  async statuses(commit: string): Promise<readonly CommitStatus[]> {
    return (await (await send("GET", `${api}/commits/${commit}/statuses`)).json()) as CommitStatus[];
  }

  get urls(): { readonly frontend: string; readonly backend: string } {
    const of = (host: string) => `https://${host}.env.localhost:18443`;
    return { frontend: of(this.environment), backend: of(`${this.environment}--api`) };
  }

  /** Waits until its environment's backend URL answers with the commit. */
  async untilAnswers(commit: string): Promise<void> {
    const check = async () => {
      const { status, body } = await open(this.urls.backend);
      return status === 200 && (JSON.parse(body) as { commit: string }).commit === commit;
    };
    await waitUntil({ what: `commit ${commit} at ${this.urls.backend}`, check, deadlineMs: 90_000, pollMs: 500 });
  }
}

/** A comment of the platform on a pull request. */
export interface Comment {
  readonly id: number;
  readonly body: string;
}

export interface CommitStatus {
  readonly context: string;
  readonly status: string;
  readonly target_url: string;
}

/** The deliveries of all repositories, oldest first. */
export async function storedDeliveries(): Promise<readonly Delivery[]> {
  const createdAt = ({ metadata }: Delivery) => Date.parse(metadata.creationTimestamp);
  const found = await list<Delivery>("webhookdeliveries", "--namespace=ephemeral-system");
  return found.toSorted((one, other) => createdAt(one) - createdAt(other));
}

/** Commits a workflow and a file, pushes the commit's image as its pipeline would, and answers the commit. */
async function commitTo(branch: string, target: object): Promise<string> {
  const file = (path: string, content: string) => ({
    operation: "create",
    path,
    content: Buffer.from(content).toString("base64"),
  });
  const name = `${branch}-${randomBytes(4).toString("hex")}`;
  const workflow = "on: push\njobs: {build: {runs-on: nothing, steps: [{run: make}]}}\n";
  const files = [file(`${name}.txt`, name), file(`.gitea/workflows/${name}.yaml`, workflow)];
  const reply = await send("POST", `${api}/contents`, { ...target, message: `Add ${name}`, files });
  const { sha } = ((await reply.json()) as { commit: { sha: string } }).commit;
  await pushImage(`${giteaUrl}/v2/shop/backend`, sha);
  return sha;
}

/** The log of the repository's webhook, which Gitea shows only on a page. */
export class HookLog {
  private readonly page: string;
  private readonly cookie: string;

  private constructor(page: string, cookie: string) {
    this.page = page;
    this.cookie = cookie;
  }

  static async open(): Promise<HookLog> {
    const [hook] = (await (await send("GET", `${api}/hooks`)).json()) as { id: number }[];
    if (hook === undefined) throw new Error("the repository has no webhook: make gitea");
    const { name, password } = await administrator();
    const reply = await fetch(`${giteaUrl}/user/login`, {
      method: "POST",
      body: new URLSearchParams({ user_name: name, password }),
      redirect: "manual",
      signal: deadline(),
    });
    if (reply.status !== 303) throw new Error(`the log-in was answered ${reply.status}`);
    // The session is set twice: the log-in begins a new one.
    const cookies = reply.headers.getSetCookie().map((cookie) => (cookie.split(";")[0] ?? "").split("=", 2));
    const cookie = [...new Map(cookies as [string, string][])].map((pair) => pair.join("=")).join("; ");
    return new HookLog(`${giteaUrl}/shop/backend/settings/hooks/${hook.id}`, cookie);
  }

  /** Repeats a delivery: Gitea gives it another id and signature. */
  async replay(id: string): Promise<void> {
    const options = {
      method: "POST",
      headers: { cookie: this.cookie },
      redirect: "manual",
      signal: deadline(),
    } as const;
    const reply = await fetch(`${this.page}/replay/${id}`, options);
    const { status, headers } = reply;
    if (status !== 303 || !headers.get("location")?.includes("/settings/hooks/")) {
      throw new Error(`the replay was answered ${status} ${headers.get("location")}`);
    }
  }
}
