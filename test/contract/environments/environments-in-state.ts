import { afterEach, beforeEach } from "@jest/globals";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../crds/environment/ephemeral-environment.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

/** Environments with a test's status, and calls about them; new for each test. */
export function environmentsInState() {
  let service: ApiService;

  beforeEach(async () => {
    service = await startApiService();
  });
  afterEach(() => service.stop());

  async function post(path: string, as: Person = "developer", body?: object) {
    const request = service.http.post(path).set("authorization", await service.bearer(as));
    return body === undefined ? request : request.send(body);
  }

  /** Creates an environment of the developer, shared with `groups`. */
  async function have(name: string, status: EnvironmentStatus, more: Partial<EnvironmentSpec> = {}) {
    const made = await service.environments.create(name, {
      backend: { repository: "shop-api", branch: "main" },
      owner: { subject: `${service.issuer.issuer}#dev`, email: "dev@example.test", name: "Dev" },
      access: { groups: ["shop"] },
      ...more,
    });
    service.environments.put({ ...made, status });
    return made.metadata.uid;
  }

  return {
    get service() {
      return service;
    },
    post,
    have,
  };
}
