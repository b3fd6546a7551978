import { afterEach, beforeEach } from "@jest/globals";
import { configSetFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

export const required = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };
export const withFrontend = { ...required, frontend_repo: "shop-web", frontend_branch: "main" };
/** The types of the URLs of an environment with both components. */
export const URLS = { backend: "string", frontend: "string" };

type Method = "get" | "post" | "put" | "delete";

/** Calls about environments in the words of the specification, to an API that is new for each test. */
export function specifiedCalls() {
  let service: ApiService;
  let authorization: string;

  beforeEach(async () => {
    service = await startApiService({ configSets: [configSetFixture("web")] });
    authorization = await service.bearer("developer");
  });
  afterEach(() => service.stop());

  function call(method: Method, path: string, body?: object) {
    const request = service.http[method](path).set({ authorization });
    return body === undefined ? request : request.send(body);
  }
  const create = (body: object = withFrontend) => call("post", "/api/environments", body);
  const made = async (body?: object): Promise<string> => (await create(body)).body.environment.id;

  return {
    get service() {
      return service;
    },
    set service(value) {
      service = value;
    },
    get authorization() {
      return authorization;
    },
    set authorization(value) {
      authorization = value;
    },
    call,
    create,
    made,
  };
}
