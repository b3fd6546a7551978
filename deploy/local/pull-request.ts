import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import type { WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import { waitUntil } from "../build/wait.ts";
import { addShopImage } from "./components/images.ts";
import type { GiteaApi } from "./git/gitea-api.ts";
import { shop, shopRepository } from "./git/shop.ts";
import { platformAccount } from "./platform/chart.ts";
import type { ClusterSite } from "./site.ts";
import { untilEnvironmentReady } from "./until-ready.ts";

interface PullRequest {
  readonly number: number;
  readonly html_url: string;
  readonly head: { readonly ref: string; readonly sha: string };
}

const component = "backend";
const repository = shopRepository(component);
const path = `/repos/${shop}/${component}`;

/** Prefix of this command's branches; other pull requests are not touched. */
const BRANCH = "try-";
const DELIVERY_DEADLINE_MS = 30_000;
const ANSWER_DEADLINE_MS = 60_000;

/**
 * Opens a pull request in the shop's backend, or takes the open one, and prints its effects: the webhook's outcome, the
 * environment's conditions, the URL that answers with the commit, and the feedback on Gitea.
 */
export async function showPullRequest(gitea: GiteaApi, site: ClusterSite): Promise<void> {
  const began = performance.now();
  const open = await gitea.send<PullRequest[]>("GET", `${path}/pulls?state=open&limit=50`);
  const known = open.find(({ head }) => head.ref.startsWith(BRANCH));
  const pull = known ?? (await openPullRequest(gitea, site));
  console.log(`\n${pull.html_url} is open, with commit ${pull.head.sha.slice(0, 8)}`);
  const environment = await untilEnvironment(site, pull);
  await untilEnvironmentReady(site.client, environment, began);
  const url = await untilAnswered(site, environment, pull.head.sha);
  console.log(`\n${url} answers with commit ${pull.head.sha.slice(0, 8)}`);
  await showFeedback(gitea, pull);
  console.log(`
Close or merge ${pull.html_url} and '${environment}' is deleted. "make pr" then opens another one.`);
}

/** Makes the commit on its own branch, and its image, before the pull request. */
async function openPullRequest(gitea: GiteaApi, site: ClusterSite): Promise<PullRequest> {
  const branch = `${BRANCH}${Date.now().toString(36)}`;
  const { commit } = await gitea.send<{ commit: { sha: string } }>("POST", `${path}/contents/${branch}.txt`, {
    content: Buffer.from("Hello.\n").toString("base64"),
    message: "Say hello",
    branch: "main",
    new_branch: branch,
  });
  await addShopImage(site, component, commit.sha);
  return gitea.send("POST", `${path}/pulls`, { head: branch, base: "main", title: "Say hello" });
}

/** Waits until a webhook about the commit has its outcome, and answers the environment's name. */
async function untilEnvironment({ client }: ClusterSite, pull: PullRequest): Promise<string> {
  let environment: string | undefined;
  let delivery: WebhookDelivery | undefined;
  const check = async () => {
    const deliveries = `/apis/ephemeral-environments.dev/v1/namespaces/${platformAccount.namespace}/webhookdeliveries`;
    const { items } = (await client.find(deliveries)) as unknown as { items: readonly WebhookDelivery[] };
    const about = items.filter((one) => isAbout(one, pull));
    delivery = about.find(({ status }) => status?.environments?.length) ?? about.at(-1);
    environment = delivery?.status?.environments?.[0]?.name;
    return environment !== undefined || delivery?.status?.phase === "ignored";
  };
  const what = `a webhook about ${pull.html_url}`;
  await waitUntil({ what, check, deadlineMs: DELIVERY_DEADLINE_MS }).catch((cause) => {
    const next = `See the recent deliveries of its webhook: ${pull.html_url.replace(/pulls.*/, "settings/hooks")}`;
    throw new Error(`${(cause as Error).message}. ${next}`, { cause });
  });
  const { phase, reason, message } = delivery?.status ?? {};
  console.log(`webhook ${delivery?.metadata.name}: ${phase} (${reason}): ${message}`);
  if (environment === undefined) {
    throw new Error(`The pull request gets no environment. Close it, then "make pr" opens another one.`);
  }
  console.log(`environment ${environment}`);
  return environment;
}

function isAbout({ spec: { event, repositories = [] } }: WebhookDelivery, { number, head }: PullRequest): boolean {
  const { pullRequest } = event;
  return repositories.includes(repository) && pullRequest?.number === number && pullRequest.headCommit === head.sha;
}

/** Waits until the component's URL answers with the commit, and returns the URL. */
async function untilAnswered({ client, ca }: ClusterSite, environment: string, commit: string): Promise<string> {
  const found = await client.find(`/apis/ephemeral-environments.dev/v1/ephemeralenvironments/${environment}`);
  const url = (found?.status as { urls?: Record<string, string> } | undefined)?.urls?.[component];
  if (url === undefined) throw new Error(`'${environment}' has no URL. See: kubectl describe eenv ${environment}`);
  const check = async () => (await openPage(url, ca.certificate)).includes(commit);
  await waitUntil({ what: `commit ${commit} at ${url}`, check, deadlineMs: ANSWER_DEADLINE_MS });
  return url;
}

async function showFeedback(gitea: GiteaApi, { number, head }: PullRequest): Promise<void> {
  interface Status {
    readonly context: string;
    readonly status: string;
    readonly description: string;
  }
  const statuses = await gitea.send<Status[]>("GET", `${path}/commits/${head.sha}/statuses`);
  const comments = await gitea.send<{ body: string }[]>("GET", `${path}/issues/${number}/comments`);
  for (const { context, status, description } of statuses) console.log(`status ${context}: ${status}, ${description}`);
  for (const { body } of comments) console.log(`comment:\n${body.replaceAll(/^/gm, "  ")}`);
  if (statuses.length === 0) console.log("Gitea has no status of the commit.");
  if (comments.length === 0) console.log("Gitea has no comment on the pull request.");
}

/**
 * The page at an environment's URL. Connects to loopback, because not every resolver knows names below `localhost`
 * (RFC 6761, 6.3). Fails when it does not answer 200 within 5 s.
 *
 * @param caFile signs the ingress's certificate
 */
async function openPage(url: string, caFile: string): Promise<string> {
  const { hostname, host, port, pathname } = new URL(url);
  const signal = AbortSignal.timeout(5_000);
  const address = { host: "127.0.0.1", port, path: pathname, servername: hostname, headers: { host } };
  const sent = request({ ...address, ca: await readFile(caFile), agent: false, signal }).end();
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  const body = await text(reply);
  if (reply.statusCode !== 200) throw new Error(`${url} answered ${reply.statusCode}: ${body.slice(0, 200)}`);
  return body;
}
