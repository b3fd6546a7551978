import { settingsFrom } from "../../../config/settings.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../crds/environment/ephemeral-environment.ts";
import { FINALIZER, reconcileToken } from "../../../crds/group.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { createOperator } from "../../../operator/wiring/operator.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld } from "../../support/worlds/environment-world.ts";
import { environmentsSuite } from "../suites/environments.suite.ts";

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
  // Only the platform may write a status.
  const platform = createKubeClient({ kubeConfig: world.identity.kubeConfig });
  const answering = answersToPasses(platform);
  return {
    environments: operator.ports.environments,
    setOperating: answering.set,
    hold: (environment) => setFinalizers(environment, [FINALIZER]),
    release: (environment) => setFinalizers(environment, []),
    stop: async () => {
      await answering.end();
      await platform.close();
      stopping.abort();
      await operator.stop();
      await world.stop();
    },
  };
});

function answersToPasses(platform: KubeClient) {
  let isOn = false;
  let hasEnded = false;
  const answer = async () => {
    const { items } = isOn ? await platform.list(environmentType) : { items: [] };
    for (const environment of items.filter(isReconcileRequested)) {
      const status = { lastHandledReconcileAt: reconcileToken(environment) };
      const { name } = environment.metadata;
      const answered = platform.patch(environmentType, { name }, { status }, { as: "merge", subresource: "status" });
      // The environment may be gone meanwhile.
      await answered.catch(() => undefined);
    }
    return hasEnded;
  };
  const running = until(answer, { what: "the end of the tests", deadlineMs: 600_000, everyMs: 20 });
  return {
    set: (isOperating: boolean) => {
      isOn = isOperating;
    },
    end: () => {
      hasEnded = true;
      return running;
    },
  };
}
