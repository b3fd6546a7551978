import { afterEach, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { createKubeClient } from "../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../operator/kit/client/kube-client.ts";
import type { SecretManagers } from "../../../../operator/ports/secret-manager.ts";
import { secretManagersOf } from "../../../../operator/wiring/technologies.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";

let server: FakeApiServer;
let client: KubeClient;
let managers: SecretManagers;
afterEach(async () => {
  await Promise.all([managers.forController.close(), managers.forApi.close(), client.close()]);
  await server.close();
});

test.each([
  [{ kind: "embedded" }, []],
  [{ kind: "google", project: "my-project-42" }, ["secret-manager/api", "secret-manager/operator"]],
])("circuit breakers of %j: %j, closed from the start on", async (secretManager, names) => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig });
  const clock = new TestClock();
  const settings = settingsFrom({ ...testSettings, secretManager });
  managers = secretManagersOf(settings, { client, leaderClient: client, isLeading: () => true, clock });
  const closed = { state: "closed", since: clock.now() };
  expect(managers.circuitBreakers()).toEqual(names.map((name) => ({ name, ...closed })));
});
