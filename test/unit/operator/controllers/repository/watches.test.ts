import { describe, expect, test } from "@jest/globals";
import type { ConfigSet } from "../../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../../crds/group.ts";
import type { Repository } from "../../../../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../../../../crds/webhooks/webhook-delivery.ts";
import { enqueueOnRepositories } from "../../../../../operator/controllers/repository/watches.ts";
import type { CacheListener } from "../../../../../operator/kit/cache/object-cache.ts";
import type { Caches } from "../../../../../operator/ports/caches.ts";
import { partialDouble } from "../../../../support/doubles/partial-double.ts";
import {
  configSetFixture,
  environmentFixture,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";

interface Tell {
  repository?: CacheListener<Repository>;
  configSet?: CacheListener<ConfigSet>;
  environment?: CacheListener<EphemeralEnvironment>;
  delivery?: CacheListener<WebhookDelivery>;
}

function scene(...repositories: readonly Repository[]) {
  const tell: Tell = {};
  const woken: string[] = [];
  const subscribed = <K extends keyof Tell>(name: K) => ({
    subscribe(listener: Tell[K]) {
      tell[name] = listener;
      return () => delete tell[name];
    },
  });
  const caches = partialDouble<Caches>({
    repositories: partialDouble({ ...subscribed("repository"), list: () => [...repositories] }),
    configSets: partialDouble(subscribed("configSet")),
    environments: partialDouble(subscribed("environment")),
    webhookDeliveries: partialDouble(subscribed("delivery")),
  });
  const end = enqueueOnRepositories(caches, (name) => void woken.push(name));
  return { tell, woken, end };
}

const changed = (metadata: Partial<Repository["metadata"]>): Repository => {
  const fixture = repositoryFixture();
  return { ...fixture, metadata: { ...fixture.metadata, ...metadata } };
};
const requested = { annotations: { [RECONCILE_ANNOTATION]: "token" } };
const answered: Repository = { ...changed(requested), status: { lastHandledReconcileAt: "token" } };

describe("a Repository", () => {
  test.each<[string, Repository | undefined, Repository | undefined, readonly string[]]>([
    ["that appears is looked at", repositoryFixture(), undefined, ["shop-api"]],
    ["that changes is looked at", changed({ generation: 2 }), repositoryFixture(), ["shop-api"]],
    ["that is made anew is looked at", changed({ uid: "other" }), repositoryFixture(), ["shop-api"]],
    ["that is deleted is looked at", changed({ deletionTimestamp: "x" }), repositoryFixture(), ["shop-api"]],
    ["that is to be checked is looked at", changed(requested), repositoryFixture(), ["shop-api"]],
    ["that was checked is left alone", answered, changed(requested), []],
    ["that is kept from now on is left alone", changed({ finalizers: ["x"] }), repositoryFixture(), []],
    ["that is gone is left alone", undefined, repositoryFixture(), []],
  ])("%s", (_what, current, previous, expected) => {
    const { tell, woken } = scene();
    tell.repository?.("key", current, previous);
    expect(woken).toEqual(expected);
  });

  test.each<[string, (tell: Tell) => void, readonly string[]]>([
    ["its companion", (tell) => tell.repository?.("key", undefined, repositoryFixture("shop-web")), ["shop-api"]],
    ["its config set", (tell) => tell.configSet?.("key", configSetFixture("web"), undefined), ["shop-api"]],
    ["another config set", (tell) => tell.configSet?.("key", configSetFixture("other"), undefined), []],
  ])("hears of %s", (_what, happens, expected) => {
    const spec = { companionRepository: "shop-web", pullRequest: { configSet: "web" } };
    const { tell, woken } = scene(repositoryFixture("shop-api", spec), repositoryFixture("plain"));
    happens(tell);
    expect(woken).toEqual(expected);
  });

  test("hears of environments that begin or end to use it, and of nothing else about them", () => {
    const { tell, woken, end } = scene();
    const environment = environmentFixture();
    tell.environment?.("shop", environment, undefined);
    tell.environment?.("shop", environment, environment);
    tell.environment?.("shop", undefined, environment);
    expect(woken).toEqual(["shop-api", "shop-api"]);
    end();
    expect(tell).toEqual({});
  });
});
