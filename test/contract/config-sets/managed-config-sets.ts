import { afterEach, beforeEach } from "@jest/globals";
import { configSetFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

export const PATH = "/api/config-sets";
/** A request with every field of a config set. */
export const whole = {
  description: "Small, for a working day",
  production: true,
  helm_values: {
    backend: {
      env: { TRACE: "1", MAIL_KEY: { secretKeyRef: { name: "mail", key: "latest" } } },
      replicas: 2,
      resources: { requests: { cpu: "100m" }, limits: { memory: "512Mi" } },
      cache: { size: 1, parts: [null, { a: true }] },
    },
    frontend: { theme: "dark" },
  },
  env: [
    { name: "LOG_LEVEL", value: "info" },
    { name: "PAYMENT_URL", secret_ref: { name: "payment-sandbox", key: "3" } },
  ],
  shared_api_keys: [{ name: "PAYMENT_KEY", secret_ref: { name: "payment-sandbox", key: "latest" } }],
  database: { enabled: false, engine: "postgresql", version: "17.2", size_gi: 5 },
  quota: { cpu: "2", memory: "4Gi", storage: "10Gi", pods: 20 },
  ttl_default_hours: 8,
  sleep: { schedule: { time_zone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] } },
  access: { groups: ["shop"] },
};
const secrets = {
  shared: [
    { ids: ["mail", "payment-sandbox"], groups: ["shop", "maintainers"] },
    { ids: ["billing-key"], groups: ["billing"] },
  ],
};

/** An API with config sets of several groups, and calls of a maintainer; new for each test. */
export function managedConfigSets() {
  let service: ApiService;

  beforeEach(async () => {
    service = await startApiService({
      configSets: [
        configSetFixture("open"),
        configSetFixture("shop-set", { access: { groups: ["shop"] } }),
        configSetFixture("billing-set", {
          access: { groups: ["billing"] },
          env: [{ name: "PAY", secretRef: { name: "billing-key", key: "1" } }],
        }),
      ],
      settings: { defaultConfigSet: "shop-set", secrets },
    });
  });
  afterEach(() => service.stop());

  async function call(
    method: "get" | "post" | "put" | "delete",
    path: string,
    body?: object,
    as: Person = "maintainer",
  ) {
    const authorization = await service.bearer(as);
    const reply = await service.http[method](path).set({ authorization }).send(body);
    const route = path.startsWith(`${PATH}/`) ? `${PATH}/{id}` : PATH;
    expectPromised(reply, method, route);
    return reply;
  }

  return {
    get service() {
      return service;
    },
    call,
  };
}
