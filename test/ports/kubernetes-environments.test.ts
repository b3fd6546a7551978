import { settingsFrom } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { FINALIZER } from "../../crds/group.ts";
import { environmentType } from "../../operator/kinds.ts";
import { systemClock } from "../../operator/kit/clock.ts";
import { silentLog } from "../../operator/kit/log.ts";
import { createOperator } from "../../operator/operator.ts";
import { createWorld } from "../support/environment-world.ts";
import { testSettings } from "../support/platform-chart.ts";
import { environmentsSuite } from "./environments.suite.ts";

environmentsSuite("on the Kubernetes API, as the platform", async () => {
  const world = await createWorld();
  const stopping = new AbortController();
  const operator = createOperator({
    settings: settingsFrom(testSettings),
    kubeConfig: world.identity.kubeConfig,
    clock: systemClock,
    log: silentLog,
    random: Math.random,
  });
  await operator.start(stopping.signal);
  const setFinalizers = async ({ metadata: { name } }: EphemeralEnvironment, finalizers: string[]) => {
    await world.admin.patch(environmentType, { name }, { metadata: { finalizers } }, { as: "merge" });
  };
  return {
    environments: operator.environments,
    hold: (environment) => setFinalizers(environment, [FINALIZER]),
    release: (environment) => setFinalizers(environment, []),
    stop: async () => {
      stopping.abort();
      await operator.stop();
      await world.stop();
    },
  };
});
