import type { ApiClient } from "./kubernetes/api-client.ts";
import { apiUrl } from "./platform/settings.ts";
import { untilEnvironmentReady } from "./until-ready.ts";

const NAME = "hello";

/** The first environment. */
export interface Hello {
  readonly status: string;
  readonly urls: { readonly backend: string; readonly frontend: string };
  /** From the request to `ready`; undefined when the environment existed before. */
  readonly readyAfterSeconds: number | undefined;
}

/** The environment's wish for sleep where the platform knows its requests. */
export const HELLO_SLEEP = { after_idle_minutes: 10 } as const;

/**
 * Creates the environment through the REST interface if missing, and shows its steps until it is ready.
 *
 * @param sleep its wish for sleep; never by default
 */
export async function ensureHello(
  cluster: Pick<ApiClient, "find">,
  idToken: string,
  sleep: typeof HELLO_SLEEP | undefined = undefined,
): Promise<Hello> {
  const began = performance.now();
  const known = await call("GET", `/api/environments/${NAME}`, idToken);
  if (known.status === 404) await create(idToken, sleep);
  await untilEnvironmentReady(cluster, NAME, began);
  const { body } = await call("GET", `/api/environments/${NAME}`, idToken);
  const { status, urls } = body as Pick<Hello, "status" | "urls">;
  return { status, urls, readyAfterSeconds: known.status === 404 ? (performance.now() - began) / 1000 : undefined };
}

async function create(idToken: string, sleep: typeof HELLO_SLEEP | undefined): Promise<void> {
  const creation = {
    environment_name: NAME,
    backend_repo: "sample-backend",
    backend_branch: "main",
    frontend_repo: "sample-frontend",
    frontend_branch: "main",
    ...(sleep && { sleep }),
  };
  const reply = await call("POST", "/api/v2/environments", idToken, creation);
  if (![200, 201].includes(reply.status)) throw new Error(`the environment was refused: ${JSON.stringify(reply.body)}`);
  console.error(`POST ${apiUrl}/api/v2/environments: environment '${NAME}' is being made`);
}

async function call(
  method: string,
  path: string,
  idToken: string,
  body?: object,
): Promise<{ status: number; body: unknown }> {
  const reply = await fetch(`${apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${idToken}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  return { status: reply.status, body: await reply.json() };
}
