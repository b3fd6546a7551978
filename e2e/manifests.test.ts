import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { commitFile, removeBranch } from "./support/chart-repository.ts";
import { Environments, find, objectsNamed, untilGone, untilReady } from "./support/environments.ts";
import { age } from "./support/etcd.ts";
import { forgetApplication, keepAsInGit, MANIFESTS, refresh, untilShown } from "./support/git-application.ts";
import { kubectl, list, type Resource, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { tokens } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(480_000);

const environments = new Environments();
const name = environments.name("git");
const application = `e2e-manifests-${environments.mark}`;
const branch = application;
// Argo CD first: it would restore the environment.
afterAll(() => forgetApplication(application));
afterAll(() => environments.removeAll());
afterAll(() => removeBranch(branch));

const file = `${MANIFESTS}/environment.json`;
const admin = { token: tokens.administrator };

async function commit(source: string, annotations: object = {}): Promise<void> {
  const manifest = {
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "EphemeralEnvironment",
    metadata: { name, annotations },
    spec: { ttlHours: 1, backend: { repository: "sample-backend", branch: source } },
  };
  await commitFile(branch, file, JSON.stringify(manifest));
}

test("an environment of Git follows its manifest, is not built again when its time is over, and is gone with its manifest", async () => {
  await commitFile(branch, `${MANIFESTS}/README.md`, "Environments of this branch.\n");
  await commit("main");
  await keepAsInGit(application, branch);
  const shown = await untilMade();
  await untilShown(application, "Synced", "Healthy");
  expect(await answers(shown)).toMatchObject({ features: [] });

  await commit("feature/cart");
  await refresh(application);
  await waitFor(["--for=jsonpath={.spec.backend.branch}=feature/cart", `eenv/${name}`]);
  await untilReady(name);
  await untilShown(application, "Synced", "Healthy");
  await untilAnswered("the branch feature/cart", (body) => JSON.stringify(body).includes("cart"));

  const extended = await ask("PUT", `/environments/${name}`, { ...admin, body: { ttl_hours: 5 } });
  expect({ status: extended.status, body: extended.body }).toMatchObject({ status: 200 });
  await refresh(application);
  await waitFor(["--for=jsonpath={.status.ttlHours}=5", `eenv/${name}`]);
  await untilShown(application, "Synced", "Healthy");
  expect((await find(name)).spec.ttlHours).toBe(5);

  // An extension by REST adds to its time: it expires after five hours.
  const before = await find(name);
  await age(name, 6);
  await ask("POST", `/environments/${name}/reconcile-status`, admin);
  const refused = await untilRefused(before.metadata.uid);
  await untilShown(application, "Synced", "Degraded");
  // Two self-heals: a deleted environment is created again, and not built.
  await kubectl("delete", "eenv", name, "--wait=false");
  await untilRefused(refused.metadata.uid);
  const [ready] = (await find(name)).status?.conditions ?? [];
  expect(ready).toMatchObject({ reason: "Expired", message: expect.stringContaining("/renew to another value") });
  expect(await list("namespaces", `--field-selector=metadata.name=env-${name}`)).toEqual([]);

  await commit("feature/cart", { "ephemeral-environments.dev/renew": "1" });
  await refresh(application);
  await waitFor(["--for=jsonpath={.status.manifest.renew}=1", `eenv/${name}`]);
  await untilReady(name);
  await untilShown(application, "Synced", "Healthy");
  const { metadata: renewed } = await find(name);
  expect((await ask("DELETE", `/environments/${name}`, admin)).status).toBe(200);
  await untilRefused(renewed.uid);

  await commit("main");
  await refresh(application);
  await waitFor(["--for=jsonpath={.spec.backend.branch}=main", `eenv/${name}`]);
  await untilReady(name);
  await commitFile(branch, file);
  await refresh(application);
  const isLeaving = async () => {
    const found = await present();
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  };
  await waitUntil({ what: "Argo CD pruning the environment", check: isLeaving, deadlineMs: 60_000 });
  await untilGone(name);
  expect(await objectsNamed(name)).toEqual([]);
  expect(await causes()).toEqual(["expired", "deletedByUser", "pruned"]);
});

async function present(): Promise<Resource | undefined> {
  const [found] = await list("eenv", `--field-selector=metadata.name=${name}`);
  return found;
}

async function untilMade() {
  const check = async () => (await present()) !== undefined;
  await waitUntil({ what: "the environment that Git asks for", check, deadlineMs: 60_000 });
  return untilReady(name);
}

async function untilRefused(uid: string) {
  const check = async () => {
    const found = await present();
    return found !== undefined && found.metadata.uid !== uid;
  };
  await waitUntil({ what: "self-heal bringing the environment back", check, deadlineMs: 120_000, pollMs: 500 });
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`]);
  return find(name);
}

async function answers({ status }: Awaited<ReturnType<typeof find>>): Promise<unknown> {
  return JSON.parse((await open(status?.url ?? "")).body);
}

async function untilAnswered(what: string, isSo: (body: unknown) => boolean): Promise<void> {
  const check = async () => isSo(await answers(await find(name)));
  await waitUntil({ what: `an answer of ${what}`, check, deadlineMs: 60_000, pollMs: 500 });
}

async function causes(): Promise<readonly unknown[]> {
  const selector = `--selector=ephemeral-environments.dev/environment=${name}`;
  const place = "--namespace=ephemeral-system";
  const found = await list<{ spec: { cause?: string; deletedAt: string } }>("environmentrecords", place, selector);
  return found
    .toSorted((one, other) => Date.parse(one.spec.deletedAt) - Date.parse(other.spec.deletedAt))
    .map(({ spec }) => spec.cause);
}
