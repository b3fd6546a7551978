import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
let authorization: string;
const start = async (options: ServiceOptions = {}) => {
  service = await startApiService(options);
  authorization = await service.bearer("admin");
};
beforeEach(() => start());
afterEach(() => service.stop());

const environment = { environment_name: "feature-test", backend_repo: "open-api", backend_branch: "main" };

describe("API tokens", () => {
  const body = { name: "CI", description: "Pipelines of the shop", scopes: ["ENV_CREATE", "ENV_READ"] };
  const make = (more: object = {}) =>
    service.http
      .post("/api/tokens")
      .set({ authorization })
      .send({ ...body, ...more });

  test("are created with name, description and scopes, with a user's credentials", async () => {
    const reply = await make();
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject(body);
    expect(reply.body.data.token).toMatch(/^svc_/);
    const byToken = await service.http
      .post("/api/tokens")
      .set("authorization", `Bearer ${reply.body.data.token}`)
      .send(body);
    expect(byToken.status).toBe(403);
  });

  test.each(["ENV_CREATE", "ENV_READ", "CONFIG_READ", "CONFIG_WRITE", "environments:create", "environments:read"])(
    "know the scope %s",
    async (scope) => {
      expect((await make({ scopes: [scope] })).body.data.scopes).toEqual([scope]);
    },
  );

  test("know no other scope", async () => {
    expect((await make({ scopes: ["ENV_EVERYTHING"] })).status).toBe(400);
  });

  test("create environments with the scope ENV_CREATE, as `Bearer svc_<API_TOKEN>`", async () => {
    const creating = (await make({ scopes: ["ENV_CREATE"] })).body.data.token;
    const reading = (await make({ scopes: ["ENV_READ"] })).body.data.token;
    const create = (token: string) =>
      service.http.post("/api/environments").set("authorization", `Bearer ${token}`).send(environment);
    expect((await create(reading)).status).toBe(403);
    expect((await create(creating)).status).toBe(200);
    const read = await service.http.get("/api/environments/feature-test").set("authorization", `Bearer ${reading}`);
    expect(read.status).toBe(200);
  });

  test("are listed, shown and revoked", async () => {
    const { id, token } = (await make()).body.data;
    const { items } = (await service.http.get("/api/tokens").set({ authorization })).body.data;
    expect(items.map((item: { id: string }) => item.id)).toEqual([id]);
    const value = await service.http.get(`/api/tokens/${id}/value`).set({ authorization });
    expect(JSON.stringify(value.body.data)).toContain(token);
    expect((await service.http.delete(`/api/tokens/${id}`).set({ authorization })).status).toBe(200);
    service.clock.advance(1000);
    const used = await service.http.get("/api/environments").set("authorization", `Bearer ${token}`);
    expect(used.status).toBe(401);
  });
});
