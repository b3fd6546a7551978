import { afterEach, beforeEach } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { until } from "../../support/fixtures/until.ts";
import { pullRequestBody, signedHeaders } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

/** The own key of the Repository `own-api`. */
export const OWN_KEY = "the-own-key-of-repository-a-in-tests";
export const OTHER_KEY = "another-key-of-at-least-32-bytes-in-tests";
const rules = { pullRequest: { enabled: true } };

export const PATH = "/api/webhooks/repohost";
export const PIPELINES = "/api/webhooks/pipelinehost/pipeline";

/** A service with Repositories that accept webhooks, new for each test of the file. */
export function webhookEndpoints() {
  let service: ApiService;
  const start = async (options: ServiceOptions = {}) => {
    await service?.stop();
    service = await startApiService({
      repositories: [
        aRepository("shop-api", { ...rules, pipeline: { createOnSuccess: true }, access: { groups: ["shop"] } }),
        aRepository("own-api", { ...rules, webhookSecretRef: { name: "own-key", key: "latest" } }),
        aRepository("lab-api", { ...rules, host: "lab", fullName: "shop/lab-api" }),
      ],
      ...options,
      settings: {
        hosts: [{ id: "lab", kind: "gitlab", apiUrl: "https://lab.example.test/api/v4" }],
        ...options.settings,
      },
    });
    service.secretManager.share({ id: "own-key", labels: {}, values: [OWN_KEY] });
  };
  beforeEach(() => start());
  afterEach(() => service.stop());

  /** Sends the text unchanged. */
  async function post(text: string, headers: object, path = PATH) {
    const reply = await service.http
      .post(path)
      .set({ "content-type": "application/json", ...headers })
      .send(text);
    expectPromised(reply, "post", path);
    return reply;
  }
  return {
    get service() {
      return service;
    },
    start,
    post,
    pull(more: Partial<Parameters<typeof pullRequestBody>[0]> = {}, signed = {}) {
      const text = JSON.stringify(pullRequestBody({ repository: "shop/shop-api", ...more }));
      return post(text, signedHeaders(text, signed));
    },
    names: () => service.environments.list().map(({ metadata }) => metadata.name),
    delivered: () => service.webhookDeliveries.list(),
    settled: () => until(() => service.webhookDeliveries.pending().length === 0, { what: "all outcomes stored" }),
  };
}
