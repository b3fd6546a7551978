import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiService, startApiService } from "../support/api-service.ts";

let service: ApiService;
beforeAll(async () => {
  service = await startApiService();
});
afterAll(() => service.stop());

const wanted = { environment_name: "first", backend_repo: "shop-api", backend_branch: "main" };

describe("the life of an environment", () => {
  test("create, get, list, extend, delete", async () => {
    const authorization = await service.bearer("developer");
    const created = await service.http.post("/api/environments").set({ authorization }).send(wanted);
    expect(created.body).toMatchObject({ status: "success", environment: { name: "first", status: "creating" } });
  });
});
