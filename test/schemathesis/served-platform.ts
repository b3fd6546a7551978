import { randomBytes } from "node:crypto";
import { startIdentityProvider } from "../../deploy/local/identity/provider.ts";
import { startGitServer } from "../support/doubles/git-server.ts";
import { shareSecret } from "../support/fixtures/shared-secret.ts";
import { testSettings } from "../support/fixtures/test-settings.ts";
import { startHttpsServer } from "../support/http/https-server.ts";
import { AUDIENCE, startTokenIssuer } from "../support/http/token-issuer.ts";
import { platformProcess } from "../support/plane/platform-process.ts";
import { createWorld } from "../support/worlds/environment-world.ts";

/** No request of a run may hit a rate limit. */
const NO_LIMITS = {
  authenticatedPerMinute: 10_000_000,
  unauthenticatedPerMinute: 10_000_000,
  documentationPerMinute: 10_000_000,
  pagesPerMinute: 10_000_000,
  webhooksPerMinute: 10_000_000,
  webhooksPerProjectPerMinute: 10_000_000,
  passwordResetsPerHour: 10_000_000,
};

const WEBHOOK_KEY_REF = { name: "webhook-key", key: "latest" };

/** The platform under test. */
export interface ServedPlatform {
  readonly url: string;
  /** ID token of an admin, valid for an hour. */
  readonly token: string;
  /** The key of hosts' signatures, and the token of pipelines. */
  readonly webhookKey: string;
  stop(): Promise<void>;
}

/**
 * Starts the platform's real process on its own control plane: the real API server validates. There are a backend and a
 * frontend Repository with a branch `main`, a stand-in for Argo CD, an ingress that answers, and no nodes.
 */
export async function servePlatform(): Promise<ServedPlatform> {
  const world = await createWorld();
  const issuer = await startTokenIssuer();
  const accounts = await startIdentityProvider({ port: 0 });
  const ingress = await startHttpsServer(["DNS:*.env.localhost"], (_request, reply) => reply.end("ok"));
  const git = await startGitServer();
  const webhookKey = randomBytes(32).toString("hex");
  await shareSecret(world, WEBHOOK_KEY_REF.name, webhookKey);
  for (const [name, spec] of [
    ["shop-api", { type: "backend", pullRequest: { enabled: true } }],
    ["shop-web", { type: "frontend" }],
  ] as const) {
    await git.createRepository(name, ["main"]);
    // Names in the document's examples of webhooks.
    const fullName = `shop/${name}`;
    await world.register(name, { ...spec, fullName, cloneUrl: `http://${git.address}/${name}.git` });
  }
  const platform = await platformProcess(world.identity, {
    ...testSettings,
    webhooks: { secrets: [WEBHOOK_KEY_REF], pipelineTokens: [WEBHOOK_KEY_REF] },
    ingressAddress: ingress.address,
    ingressCaFile: ingress.caFile,
    api: {
      issuers: [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { admin: ["admins"] } }],
      identityProvider: { kind: "local", url: accounts.issuer },
      limits: NO_LIMITS,
    },
  });
  await platform.start();
  return {
    url: platform.url,
    webhookKey,
    token: await issuer.sign({ sub: "adm", email: "adm@example.test", name: "Adm", groups: ["admins"] }),
    async stop() {
      await platform.stop();
      await Promise.all([issuer.stop(), accounts.close(), ingress.stop(), git.stop()]);
      await world.stop();
    },
  };
}
