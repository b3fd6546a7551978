import { describe, expect, test } from "@jest/globals";
import { BACKING_SERVICES } from "../../../../../../operator/controllers/environment/backing-services/index.ts";
import { storedVariables } from "../../../../../../operator/controllers/environment/desired/variables.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const backend = repositoryFixture("shop-api", { secrets: [{ name: "LISTED" }] });
const status = { secrets: [{ name: "MADE", version: 2 }] };

describe("the variables of which there may be values", () => {
  test.each([
    {
      name: "before the status says anything: what is listed, and a database's password",
      given: [environmentFixture(), { backend }],
      expected: ["DATABASE_PASSWORD", "LISTED"],
    },
    {
      name: "what the status says, also when its Repository is gone",
      given: [environmentFixture({ status }), {}],
      expected: ["DATABASE_PASSWORD", "MADE"],
    },
    {
      name: "what users provide",
      given: [environmentFixture({ status, spec: { secrets: { provided: ["GIVEN", "MADE"] } } }), { backend }],
      expected: ["DATABASE_PASSWORD", "GIVEN", "LISTED", "MADE"],
    },
  ] as const)("$name", ({ given: [environment, repositories], expected }) => {
    expect([...storedVariables(environment, repositories, BACKING_SERVICES)].sort()).toEqual(expected);
  });
});
