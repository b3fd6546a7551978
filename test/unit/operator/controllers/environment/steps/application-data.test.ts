import { expect, test } from "@jest/globals";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { postgresql } from "../../../../../../operator/controllers/environment/backing-services/postgresql.ts";
import { application } from "../../../../../../operator/controllers/environment/steps/application.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

interface Scene {
  readonly name: string;
  readonly database: EnvironmentSpec["database"];
  readonly status: EnvironmentStatus;
}

const from = { environment: "gone" };

test.each<Scene>([
  { name: "begins without its copy", database: { provision: true, from }, status: {} },
  {
    name: "gets a database without its copy",
    database: { provision: true, from },
    status: { desiredHash: "former", database: { made: false } },
  },
  {
    name: "goes back to its former database by itself",
    database: { provision: true, from, generation: 2 },
    status: { desiredHash: "former", database: { made: true } },
  },
])("no application $name: it stays as it is", async ({ database, status }) => {
  const repositories = memoryRepositories(repositoryFixture("shop-api"));
  // The use of the deployer is an error.
  const step = application(stepDependencies({ backingServices: [postgresql], repositories }));
  const environment = environmentFixture({ spec: { ...(database && { database }) }, status });
  const waiting = { state: "waiting", reason: "WaitingForData" };
  expect(await step.run(environment, stepContext())).toMatchObject(waiting);
});
