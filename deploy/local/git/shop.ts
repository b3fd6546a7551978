import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { findCondition } from "../../../crds/conditions.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import { waitUntil } from "../../build/wait.ts";
import { identityFolder } from "../folders.ts";
import { signedIdToken } from "../identity/tokens.ts";
import { giteaUrl, localIssuer } from "../network/addresses.ts";
import { platformAccount } from "../platform/chart.ts";
import { ensureSecret, giteaTokenRef } from "../platform/secrets.ts";
import { apiUrl, giteaHost } from "../platform/settings.ts";
import type { ClusterSite } from "../site.ts";
import { basicAuthorization, type GiteaApi } from "./gitea-api.ts";
import { CART_BRANCH, git, type SampleComponent, type SampleRepository } from "./repositories.ts";

/** The organization whose pull requests get environments. */
export const shop = "shop";

/** The name of a Repository of the shop. */
export const shopRepository = (component: SampleComponent) => `${shop}-${component}`;

/** The image of a component of the shop in Gitea's registry; its tag is the commit. */
export function shopImage(component: SampleComponent): string {
  return `${new URL(giteaUrl).host}/shop/${component}`;
}

const components = ["backend", "frontend"] as const;
const companions = { backend: "frontend", frontend: "backend" } as const;

const DEADLINE_MS = 30_000;

const platformUser = "environments";

/**
 * Ensures the organization `shop` on Gitea with copies of the sample's repositories, their Repositories for environments of
 * pull requests, and a webhook for each. Existing objects stay.
 */
export async function ensureShop(gitea: GiteaApi, site: ClusterSite): Promise<void> {
  if (!(await gitea.find(`/orgs/${shop}`))) await gitea.send("POST", "/orgs", { username: shop, visibility: "public" });
  for (const component of components) await ensureRepository(gitea, site, component);
  await ensureSecret(site.client, giteaTokenRef.name, () => tokenOfPlatform(gitea));
  for (const component of components) await ensureHook(site, component);
}

async function ensureRepository(gitea: GiteaApi, site: ClusterSite, component: SampleComponent): Promise<void> {
  const path = `/repos/${shop}/${component}`;
  const wish = { name: component, default_branch: "main" };
  const known = await gitea.find<GiteaRepository>(path);
  const { id, empty } = known ?? (await gitea.send<GiteaRepository>("POST", `/orgs/${shop}/repos`, wish));
  if (empty) await copyBranches(gitea, site, component);
  await site.client.apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "Repository",
    metadata: { name: shopRepository(component), namespace: platformAccount.namespace },
    spec: {
      type: component,
      cloneUrl: `${giteaUrl}/${shop}/${component}.git`,
      host: giteaHost,
      hostId: String(id),
      image: { repository: shopImage(component) },
      port: 8080,
      healthPath: "/healthz",
      companionRepository: shopRepository(companions[component]),
      pullRequest: { enabled: true },
    },
  });
}

interface GiteaRepository {
  readonly id: number;
  readonly empty: boolean;
}

async function copyBranches(gitea: GiteaApi, site: ClusterSite, component: SampleComponent): Promise<void> {
  const { name }: SampleRepository = site.repositories[component];
  const folder = join(site.repositoriesFolder, "platform", `${name}.git`);
  // In the environment: other users of the machine can read arguments.
  const login = {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "http.extraHeader",
    GIT_CONFIG_VALUE_0: `Authorization: ${basicAuthorization(gitea.account)}`,
  };
  await git(folder, ["push", "--quiet", `${giteaUrl}/${shop}/${component}.git`, "main", CART_BRANCH], { env: login });
}

async function tokenOfPlatform(gitea: GiteaApi): Promise<string> {
  if (!(await gitea.find(`/users/${platformUser}`))) {
    await gitea.send("POST", "/admin/users", {
      username: platformUser,
      email: `${platformUser}@example.test`,
      password: randomBytes(24).toString("base64url"),
      must_change_password: false,
    });
  }
  for (const component of components) {
    // Repairing webhooks takes the right to administer the repository.
    const path = `/repos/${shop}/${component}/collaborators/${platformUser}`;
    await gitea.send("PUT", path, { permission: "admin" });
  }
  const wish = { name: `platform-${Date.now()}`, scopes: ["write:repository", "write:issue", "read:user"] };
  return (await gitea.send<{ sha1: string }>("POST", `/users/${platformUser}/tokens`, wish)).sha1;
}

/** The platform registers the webhook once it knows the Repository. */
async function ensureHook({ client }: ClusterSite, component: SampleComponent): Promise<void> {
  const name = shopRepository(component);
  const path = `/apis/ephemeral-environments.dev/v1/namespaces/${platformAccount.namespace}/repositories/${name}`;
  const active = async () => {
    const repository = (await client.find(path)) as unknown as Repository | undefined;
    return findCondition(repository?.status?.conditions, "WebhookActive")?.status;
  };
  const check = async () => (await active()) !== undefined;
  await waitUntil({ what: `the condition WebhookActive of '${name}'`, check, deadlineMs: DEADLINE_MS });
  if ((await active()) === "True") return;
  const authorization = `Bearer ${await signedIdToken(identityFolder, localIssuer, "admin@example.test")}`;
  const request = { method: "POST", headers: { authorization }, signal: AbortSignal.timeout(DEADLINE_MS) };
  const reply = await fetch(`${apiUrl}/api/v2/repos/${name}/webhook`, request);
  if (!reply.ok) throw new Error(`The platform does not register the webhook of '${name}': ${await reply.text()}`);
}
