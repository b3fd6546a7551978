import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { configSetFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

const minimal = { environment_name: "feature-test", backend_repo: "late-api", backend_branch: "main" };

async function create(body: object = minimal) {
  const request = service.http.post("/api/environments").set("authorization", await service.bearer("developer"));
  return request.send(body);
}
const refused = "backend_repo: no backend repository 'late-api' is registered";
const late = (name: string, more: Parameters<typeof aRepository>[1] = {}) =>
  service.unknownNames.registerLate(aRepository(name, { access: { groups: ["shop"] }, ...more }));

describe("a creation right after a name was made", () => {
  test("finds Repositories that the watch has not delivered yet", async () => {
    late("late-api");
    late("late-web", { type: "frontend" });
    const reply = await create({ ...minimal, frontend_repo: "late-web", frontend_branch: "main" });
    expectPromised(reply, "post", "/api/environments");
    expect(service.unknownNames.requested).toEqual(["late-api", "late-web"]);
  });

  test("finds a config set that the watch has not delivered yet", async () => {
    const labelled = configSetFixture("late-set", { access: { groups: ["shop"] } });
    service.unknownNames.makeLate(labelled);
    const reply = await create({ ...minimal, backend_repo: "shop-api", config_set: "late-set" });
    expectPromised(reply, "post", "/api/environments");
    expect((await service.environments.find("feature-test"))?.spec.configSet).toEqual({ name: "late-set" });
  });

  test("asks for no name that is known", async () => {
    expectPromised(await create({ ...minimal, backend_repo: "shop-api" }), "post", "/api/environments");
    expect(service.unknownNames.requested).toEqual([]);
  });

  test("still refuses what is absent, what the caller may not use, and what is of the other type", async () => {
    expectProblem(await create(), 400, refused, "ENV_REPO_NOT_FOUND");
    service.clock.advance(1_000);
    late("late-api", { access: { groups: ["others"] } });
    expectProblem(await create(), 400, refused, "ENV_REPO_NOT_FOUND");
    late("other-api", { type: "frontend" });
    const other = "backend_repo: no backend repository 'other-api' is registered";
    expectProblem(await create({ ...minimal, backend_repo: "other-api" }), 400, other, "ENV_REPO_NOT_FOUND");
  });

  test("refuses an absent name for a second without asking again", async () => {
    expectProblem(await create(), 400, refused, "ENV_REPO_NOT_FOUND");
    late("late-api");
    expectProblem(await create(), 400, refused, "ENV_REPO_NOT_FOUND");
    expect(service.unknownNames.requested).toEqual(["late-api"]);
    service.clock.advance(1_000);
    expectPromised(await create(), "post", "/api/environments");
  });

  test("says that the platform is not available where the API server does not answer", async () => {
    service.unknownNames.failNext(new ClusterUnavailable(5));
    expect((await create()).status).toBe(503);
  });
});
