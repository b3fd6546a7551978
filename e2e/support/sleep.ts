import { creation, untilReady } from "./environments.ts";
import { FAR_HOURS } from "./far-hours.ts";
import { list, waitFor } from "./kubectl.ts";
import { platform } from "./platform.ts";
import { waitUntil } from "./wait.ts";

/** An environment with its id and the host of its backend. */
export interface Backend {
  readonly name: string;
  readonly id: string;
  readonly host: string;
}

/** Creates an environment without a frontend, and waits until it is ready. */
export async function createBackend(name: string, more: object = {}): Promise<Backend> {
  const { frontend_repo: _, frontend_branch: __, ...backendOnly } = creation(name);
  const made = await platform.call("POST /api/v2/environments", { body: { ...backendOnly, ...more } });
  await untilReady(name);
  return { name, id: made.environment.id, host: `${name}--api.env.localhost` };
}

/** Lets it sleep outside its hours, and waits until no pod and no Ingress of it is left. */
export async function fallAsleep({ name, id }: Pick<Backend, "name" | "id">): Promise<void> {
  await platform.call("PATCH /api/v2/environments/{environment_id}", {
    path: { environment_id: id },
    body: { sleep: FAR_HOURS },
  });
  await waitFor(["--for=jsonpath={.status.sleep.state}=asleep", `eenv/${name}`]);
  await waitUntil({
    what: `the end of the pods and Ingresses of '${name}', which sleeps`,
    check: async () => (await list("pods,ingresses", `--namespace=env-${name}`)).length === 0,
    deadlineMs: 60_000,
  });
}
