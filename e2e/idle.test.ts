import { afterAll, expect, jest, test } from "@jest/globals";
import { curl } from "./support/curl.ts";
import { objectsIn } from "./support/database.ts";
import { Environments } from "./support/environments.ts";
import { waitFor } from "./support/kubectl.ts";
import { platform } from "./support/platform.ts";
import { createBackend } from "./support/sleep.ts";
import { waitUntil } from "./support/wait.ts";

/** The shortest idle time that an environment may ask for; the operator has to have seen its requests for that long. */
const IDLE_MINUTES = 10;
const ASLEEP_DEADLINE_SECONDS = (IDLE_MINUTES + 5) * 60;

jest.setTimeout((ASLEEP_DEADLINE_SECONDS + 180) * 1000);

const environments = new Environments();
afterAll(() => environments.removeAll());

test.concurrent("an environment without visitors falls asleep, keeps its volume alone, and wakes for the next visitor", async () => {
  const sleep = { after_idle_minutes: IDLE_MINUTES };
  const { name, id, host } = await createBackend(environments.name("idle"), { provision_database: true, sleep });
  const visit = async () => JSON.parse((await curl(host, { path: "/database" })).body) as unknown;
  expect(await visit()).toEqual({ visits: 1 });

  await waitFor(["--for=condition=Asleep", `eenv/${name}`], ASLEEP_DEADLINE_SECONDS);
  const left = () => objectsIn(name, "pods,ingresses,persistentvolumeclaims");
  await waitUntil({
    what: "the end of all but the volume",
    check: async () => (await left()).join() === "PersistentVolumeClaim database",
    deadlineMs: 60_000,
  });
  const shown = await platform.call("GET /api/v2/environments/{environment_id}", { path: { environment_id: id } });
  expect(shown.sleep).toMatchObject({ state: "asleep", cause: "idle" });

  expect(await visit()).toEqual({ visits: 2 });
  await waitFor(["--for=jsonpath={.status.sleep.state}=awake", `eenv/${name}`]);
});
