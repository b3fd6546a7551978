import type { Condition } from "../../crds/conditions.ts";
import { type ApiAccess, apiClient } from "./kubernetes/api-client.ts";
import { apiUrl } from "./platform/settings.ts";
import { waitUntil } from "./processes/wait.ts";

/** The conditions of an environment that is ready: those of its steps, and `Ready`. */
const CONDITIONS = 9;

const NAME = "hello";
const READY_DEADLINE_MS = 120_000;

/** The first environment. */
export interface Hello {
  readonly status: string;
  readonly urls: { readonly backend: string; readonly frontend: string };
  /** From the request to `ready`; undefined when it was there before. */
  readonly readyAfterSeconds: number | undefined;
}

/** Makes the environment through the REST interface if it is not there, and shows its steps until it is ready. */
export async function ensureHello(access: ApiAccess, idToken: string): Promise<Hello> {
  const began = performance.now();
  const known = await call("GET", `/${NAME}`, idToken);
  if (known.status === 404) await create(idToken);
  await untilReady(access, began);
  const { body } = await call("GET", `/${NAME}`, idToken);
  const { status, urls } = body as Pick<Hello, "status" | "urls">;
  return { status, urls, readyAfterSeconds: known.status === 404 ? (performance.now() - began) / 1000 : undefined };
}

async function create(idToken: string): Promise<void> {
  const wanted = {
    environment_name: NAME,
    backend_repo: "sample-backend",
    backend_branch: "main",
    frontend_repo: "sample-frontend",
    frontend_branch: "main",
  };
  const reply = await call("POST", "", idToken, wanted);
  if (reply.status !== 200) throw new Error(`the environment was refused: ${JSON.stringify(reply.body)}`);
  console.error(`POST ${apiUrl}/api/environments: environment '${NAME}' is being made`);
}

/** Follows the conditions of the resource: the same that `kubectl describe` shows. */
async function untilReady(access: ApiAccess, began: number): Promise<void> {
  const client = apiClient(access);
  const shown = new Set<string>();
  let last: Condition | undefined;
  const check = async () => {
    const found = await client.find(`/apis/ephemeral-environments.dev/v1/ephemeralenvironments/${NAME}`);
    const { conditions = [] } = (found?.status ?? {}) as { conditions?: Condition[] };
    last = conditions.find(({ type }) => type === "Ready");
    for (const { type } of conditions.filter(({ status, type }) => status === "True" && !shown.has(type))) {
      shown.add(type);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.error(`  ${shown.size}/${CONDITIONS} ${type.padEnd(22)} ${seconds} s`);
    }
    return last?.status === "True";
  };
  try {
    await waitUntil({ what: `environment '${NAME}' to be ready`, check, deadlineMs: READY_DEADLINE_MS });
  } catch (cause) {
    const because = last ? `${last.reason}: ${last.message}` : "it has no status: is the operator running?";
    throw new Error(`Environment '${NAME}' is not ready. ${because}\nSee .local/cluster/log/operator.log.`, { cause });
  } finally {
    client.close();
  }
}

async function call(
  method: string,
  path: string,
  idToken: string,
  body?: object,
): Promise<{ status: number; body: unknown }> {
  const reply = await fetch(`${apiUrl}/api/environments${path}`, {
    method,
    headers: { authorization: `Bearer ${idToken}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  return { status: reply.status, body: await reply.json() };
}
