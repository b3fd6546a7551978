import { execFileSync } from "node:child_process";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  commandOf,
  draftOf,
  EMPTY,
  quoted,
  requestOf,
} from "../../../../../clients/console/new-environment/request.ts";

const LEAST = { ...EMPTY, environment_name: "shop", backend_repo: "shop-api", backend_branch: "main" };

describe("the request of the form", () => {
  test("leaves out what was left empty", () => {
    expect(requestOf(LEAST, undefined)).toEqual({
      environment_name: "shop",
      backend_repo: "shop-api",
      backend_branch: "main",
    });
  });

  test("has everything that was chosen, in its type", () => {
    const draft = {
      ...LEAST,
      frontend_repo: "shop-web",
      frontend_branch: "trunk",
      config_set: "small",
      ttl: "8",
      provision_database: "no",
      use_shared_api_keys: "yes",
      backend_commit: "4f1c2a9",
    };
    expect(requestOf(draft, { backend: { replicas: 2 } })).toEqual({
      environment_name: "shop",
      backend_repo: "shop-api",
      backend_branch: "main",
      backend_commit: "4f1c2a9",
      frontend_repo: "shop-web",
      frontend_branch: "trunk",
      config_set: "small",
      ttl: 8,
      provision_database: false,
      use_shared_api_keys: true,
      config_overrides: { helm_values: { backend: { replicas: 2 } } },
    });
  });

  test("has no branch of a frontend that is not wanted any more", () => {
    expect(requestOf({ ...LEAST, frontend_branch: "trunk" }, undefined)).not.toHaveProperty("frontend_branch");
  });

  test("reads the fields without spaces around them, and YAML with those at its beginning", () => {
    const values = new FormData();
    values.set("environment_name", " shop ");
    values.set("overrides", "  backend: {}\n\n");
    expect(draftOf(values)).toEqual({ ...EMPTY, environment_name: "shop", overrides: "  backend: {}" });
  });
});

describe("the command that asks for the same", () => {
  test("names what is still to be chosen", () => {
    expect(commandOf(EMPTY)).toBe("eenv create NAME \\\n  --repo REPOSITORY \\\n  --branch BRANCH");
  });

  test("has the flags of what was chosen", () => {
    const draft = { ...LEAST, ttl: "8", config_set: "small", provision_database: "yes", use_shared_api_keys: "yes" };
    expect(commandOf(draft).split(" \\\n  ")).toEqual([
      "eenv create shop",
      "--repo shop-api",
      "--branch main",
      "--config-set small",
      "--ttl 8h",
      "--database",
      "--shared-api-keys",
    ]);
  });

  test("brings overrides as a file", () => {
    const command = commandOf({ ...LEAST, overrides: "backend:\n  replicas: 2" });
    expect(command.split("<<'YAML'")[1]).toBe(
      "\nconfig_overrides:\n  helm_values:\n    backend:\n      replicas: 2\nYAML",
    );
  });

  test("gives a shell each word as it is, whatever is in it", () => {
    const words = fc.array(
      fc.string({ unit: "binary" }).filter((word) => !word.includes("\0")),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(words, (all) => {
        const script = `printf '%s\\0' ${all.map(quoted).join(" ")}`;
        const reported = execFileSync("sh", ["-c", script], { encoding: "utf8" });
        expect(reported).toBe(all.length === 0 ? "\0" : all.map((word) => `${word}\0`).join(""));
      }),
      { numRuns: 25 },
    );
  });
});
