import { afterEach, beforeEach } from "@jest/globals";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

export const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };

/** Calls with an API token to an API that is new for each test. */
export function callsWithToken() {
  let service: ApiService;

  beforeEach(async () => {
    service = await startApiService();
  });
  afterEach(() => service.stop());

  const restart = async (options: ServiceOptions) => {
    await service.stop();
    service = await startApiService(options);
  };

  const as = (token: string) => ({
    get: (path: string) => service.http.get(path).set("authorization", `Bearer ${token}`),
    post: (path: string, body: object) => service.http.post(path).set("authorization", `Bearer ${token}`).send(body),
    delete: (path: string) => service.http.delete(path).set("authorization", `Bearer ${token}`),
  });
  const person = async (claims: { groups?: readonly string[] } = {}) => service.bearer("developer", claims);

  return {
    get service() {
      return service;
    },
    restart,
    as,
    person,
  };
}
