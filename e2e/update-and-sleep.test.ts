import { afterAll, expect, jest, test } from "@jest/globals";
import { create, Environments, madeFor, untilReady } from "./support/environments.ts";
import { kubectl, list, read, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { platform } from "./support/platform.ts";
import { podSecret } from "./support/secrets.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

/** No image was ever built of it. */
const UNBUILT = "b".repeat(40);
const urlsOf = (name: string) => [`https://${name}--api.env.localhost:18443`, `https://${name}.env.localhost:18443`];
const statusesOf = async (name: string) => (await Promise.all(urlsOf(name).map(open))).map(({ status }) => status);
/** A Deployment without replicas is healthy before its last pod has ended. */
const untilNothingAnswers = (name: string) =>
  waitUntil({
    what: `the end of the answers of '${name}', which sleeps`,
    check: async () => !(await statusesOf(name)).includes(200),
    deadlineMs: 60_000,
    pollMs: 500,
  });
const environment = (id: string) =>
  platform.call("GET /api/v2/environments/{environment_id}", { path: { environment_id: id } });
const setSuspended = (id: string, suspended: boolean) =>
  platform.call("PATCH /api/v2/environments/{environment_id}", { path: { environment_id: id }, body: { suspended } });
/** Kubernetes counts the pods' requests in the namespace's quota. */
const untilCosting = (id: string, isSo: (perHour: number) => boolean) =>
  waitUntil({
    what: `other costs an hour of '${id}'`,
    check: async () => {
      const { per_hour } = (await environment(id)).cost;
      return per_hour !== null && isSo(per_hour);
    },
    deadlineMs: 60_000,
    pollMs: 1_000,
  });
const patch = (name: string, spec: object) =>
  kubectl("patch", "eenv", name, "--type=merge", `--patch=${JSON.stringify({ spec })}`);

interface Running {
  readonly status: {
    readonly expiresAt: string;
    readonly components: { readonly backend: { readonly commit: string } };
  };
}

async function kept(name: string, id: string) {
  const { status } = await read<Running>("eenv", name);
  return { secret: await podSecret(name), objects: await madeFor(id), expiresAt: status.expiresAt };
}

test.concurrent("an update that can't run leaves the old version answering, and heals when it is taken back", async () => {
  const name = environments.name("update");
  const id = await create(name);
  await untilReady(name);
  const before = await kept(name, id);
  const { commit } = (await read<Running>("eenv", name)).status.components.backend;

  await patch(name, { backend: { commit: UNBUILT } });
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`], 150);
  expect(await statusesOf(name)).toEqual([200, 200]);
  expect((await environment(id)).repositories.backend.commit).toBe(commit);

  await patch(name, { backend: { commit } });
  await untilReady(name);
  expect(await statusesOf(name)).toEqual([200, 200]);
  expect(await kept(name, id)).toEqual(before);
});

test.concurrent("a suspended environment runs no pod and costs nothing, and answers again when it is woken", async () => {
  const name = environments.name("sleep");
  const id = await create(name);
  await untilReady(name);
  const before = await kept(name, id);
  await untilCosting(id, (perHour) => perHour > 0);

  expect(await setSuspended(id, true)).toMatchObject({ suspended: true });
  await waitFor(["--for=condition=Suspended", `eenv/${name}`]);
  await untilReady(name);
  const deployments = await list<{ spec: { replicas: number } }>("deployments", `--namespace=env-${name}`);
  expect(deployments.map(({ spec }) => spec.replicas)).toEqual([0, 0]);
  await untilNothingAnswers(name);
  await untilCosting(id, (perHour) => perHour === 0);
  expect(await kept(name, id)).toEqual(before);

  await setSuspended(id, false);
  await untilReady(name);
  await untilCosting(id, (perHour) => perHour > 0);
  expect(await statusesOf(name)).toEqual([200, 200]);
  expect(await kept(name, id)).toEqual(before);
});
