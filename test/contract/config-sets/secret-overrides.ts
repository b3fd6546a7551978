import { afterEach, beforeEach, expect } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { configSetFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

export const both = {
  environment_name: "given",
  backend_repo: "shop-api",
  backend_branch: "main",
  frontend_repo: "shop-web",
};
/** A creation of a backend alone. */
export const { frontend_repo: _, ...backend } = both;
/** A creation with these overrides of the chart's values. */
export const overriding = (helm_values: object, base: object = both) => ({
  ...base,
  config_overrides: { helm_values },
});
export const env = (variables: object, component = "backend") => overriding({ [component]: { env: variables } });
export const ref = (name: unknown, key: unknown = "latest") => ({ secretKeyRef: { name, key } });

export const at = (path: string) => `config_overrides.helm_values.${path}`;

/** An API whose Repositories list secrets and whose settings share some; new for each test. */
export function secretOverrides() {
  let service: ApiService;
  let authorization: string;

  beforeEach(async () => {
    service = await startApiService({
      repositories: [
        aRepository("shop-api", {
          access: { groups: ["shop"] },
          secrets: [{ name: "SECRET_KEY" }, { name: "STRIPE_KEY" }],
          overridable: ["backend.cache.size", "backend.cache.on"],
        }),
        aRepository("shop-web", {
          type: "frontend",
          secrets: [{ name: "WEB_TOKEN" }],
          overridable: ["frontend.theme"],
        }),
        aRepository("open-api", { secrets: [] }),
      ],
      configSets: [
        configSetFixture("plain", {}),
        configSetFixture("long", {
          env: Array.from({ length: 4 }, (_, at) => ({ name: `L${at}`, value: "x".repeat(32_000) })),
        }),
        configSetFixture("limited", {
          helmValues: { backend: { resources: { requests: { memory: "128Mi" }, limits: { cpu: "0.5" } } } },
          quota: { memory: "4Gi" },
        }),
        configSetFixture("keys", { sharedApiKeys: [{ name: "MAIL", secretRef: { name: "shared-mail", key: "2" } }] }),
        configSetFixture("foreign-keys", {
          sharedApiKeys: [{ name: "PAY", secretRef: { name: "billing-key", key: "1" } }],
        }),
        configSetFixture("all", {
          env: [{ name: "SECRET_KEY", secretRef: { name: "shared-mail", key: "1" } }],
          sharedApiKeys: [{ name: "STRIPE_KEY", secretRef: { name: "labelled", key: "latest" } }],
        }),
      ],
      settings: {
        secrets: {
          shared: [
            { ids: ["shared-stripe", "shared-mail"], groups: ["shop", "mail"] },
            { labels: { share: "shop" }, groups: ["shop"] },
            { ids: ["billing-key"], groups: ["billing"] },
          ],
        },
      },
    });
    service.secretManager.share({ id: "labelled", labels: { share: "shop" }, values: ["x"] });
    service.secretManager.share({ id: "unlabelled", labels: { share: "billing" }, values: ["x"] });
    authorization = await service.bearer("developer");
  });
  afterEach(() => service.stop());
  const post = (body: object) => service.http.post("/api/environments").set({ authorization }).send(body);
  const made = () => service.environments.find("given");

  async function violations(body: object): Promise<Record<string, string>> {
    const reply = await post(body);
    expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
    expectPromised(reply, "post", "/api/environments");
    expect(service.environments.list()).toEqual([]);
    const named = String(reply.body.detail).split("; ");
    return Object.fromEntries(named.map((violation) => violation.split(/: (.*)/s).slice(0, 2) as [string, string]));
  }

  return {
    get service() {
      return service;
    },
    get authorization() {
      return authorization;
    },
    post,
    made,
    violations,
  };
}
