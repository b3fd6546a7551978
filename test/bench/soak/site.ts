import { type Client, createClient } from "../../../clients/sdk/index.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import { identityFolder } from "../../../deploy/local/folders.ts";
import { CART_BRANCH } from "../../../deploy/local/git/repositories.ts";
import { signedIdToken } from "../../../deploy/local/identity/tokens.ts";
import { localIssuer } from "../../../deploy/local/network/addresses.ts";
import { webhookKeyRef } from "../../../deploy/local/platform/secrets.ts";
import { gitRepositoryHost } from "../../../operator/adapters/git/repository-host.ts";
import { environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { until } from "../../support/fixtures/until.ts";
import type { LocalCluster } from "../local-cluster.ts";
import { Ledger } from "./ledger.ts";

/** The local cluster, as people of the soak use it. */
export interface Site {
  readonly admin: KubeClient;
  readonly platform: Client;
  readonly apiUrl: string;
  /** Key of the webhooks. */
  readonly webhookKey: string;
  /** Commits of the backend with an image. */
  readonly commits: readonly string[];
  /** Repository whose pull requests get environments; part of every name. */
  readonly repository: string;
  readonly ledger: Ledger;
  stop(): Promise<void>;
}

const namespace = "ephemeral-system";
const BACKEND = "sample-backend";
const CLEAN_MS = 300_000;
/** Time of a single try. */
const TRY_MS = 15_000;

/** Registers a Repository with pull requests, beside the sample's. Its `stop` deletes all that the soak has made. */
export async function openSite({ admin, variables }: LocalCluster, seed: number): Promise<Site> {
  const { metadata: _, spec } = (await admin.find(repositoryType, { name: BACKEND, namespace })) as Repository;
  const repository = `soak-${seed}`;
  await admin.create(repositoryType, {
    metadata: { name: repository, namespace },
    spec: { ...spec, provider: "repohost", fullName: `soak/${seed}`, pullRequest: { enabled: true } },
  });
  const host = gitRepositoryHost();
  const heads = await Promise.all(["main", CART_BRANCH].map((branch) => host.head(spec.cloneUrl, branch)));
  await host.close();
  const apiUrl = variables.API_URL as string;
  const ledger = new Ledger();
  return {
    admin,
    apiUrl,
    repository,
    ledger,
    commits: heads.map((head) => head as string),
    webhookKey: await keyOfWebhooks(admin),
    platform: createClient({
      url: apiUrl,
      token: () => signedIdToken(identityFolder, localIssuer, "dev@example.test"),
      retries: { attempts: 1 },
      fetch: (request) => fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(TRY_MS)]) }),
    }),
    async stop() {
      for (const name of await namesOf(admin, repository)) await admin.delete(environmentType, { name });
      const isClean = async () => (await namesOf(admin, repository)).length === 0;
      await until(isClean, { what: "the end of the soak's environments", deadlineMs: CLEAN_MS, everyMs: 1_000 });
      await admin.delete(repositoryType, { name: repository, namespace });
      await admin.close();
    },
  };
}

async function keyOfWebhooks(admin: KubeClient): Promise<string> {
  const secret = await admin.find(secretKind, { name: webhookKeyRef.name, namespace: "ephemeral-secrets" });
  const { "1": encoded = "" } = (secret?.data ?? {}) as Readonly<Record<string, string>>;
  return Buffer.from(encoded, "base64").toString();
}

/** Names of all environments that the soak has made. */
export async function namesOf(admin: KubeClient, repository: string): Promise<readonly string[]> {
  const { items } = await admin.list(environmentType);
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(repository));
}
