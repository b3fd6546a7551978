import { afterEach, beforeEach } from "@jest/globals";
import { type ApiService, type Person, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

export const requested = { name: "CI", description: "Pipelines of the shop", scopes: ["ENV_CREATE", "ENV_READ"] };

/** Calls about API tokens to an API that is new for each test. */
export function tokenCalls() {
  let service: ApiService;
  const start = async (options: ServiceOptions = {}) => {
    service = await startApiService(options);
  };
  beforeEach(() => start());
  afterEach(() => service.stop());

  async function call(method: "get" | "post" | "delete", path: string, as: Person, body?: object) {
    const request = service.http[method](path).set("authorization", await service.bearer(as));
    return body === undefined ? request : request.send(body);
  }
  const make = (as: Person = "developer", body: object = requested) => call("post", "/api/tokens", as, body);
  const made = async (as: Person = "developer", body: object = requested) => (await make(as, body)).body.data;
  const list = async (as: Person, query = "") => (await call("get", `/api/tokens${query}`, as)).body.data;

  return {
    get service() {
      return service;
    },
    start,
    call,
    make,
    made,
    list,
  };
}
