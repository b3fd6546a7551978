import { expect, test } from "@jest/globals";
import { contentOf } from "../../../../../clients/console/config-sets/content.ts";
import type { ConfigSet } from "../../../../../clients/sdk/index.ts";

const set = (more: object) =>
  ({ id: "web", version: 1, is_default: false, used_by: 0, ...more }) as unknown as ConfigSet;

test("the content of a config set has everything that is set, also `false` and an empty text", () => {
  const content = {
    helm_values: { backend: { metrics: { enabled: false }, env: { FEATURE_X: "" } } },
    database: { enabled: false },
    sleep: {},
  };
  expect(contentOf(set(content))).toEqual(content);
});

test("the content of a config set leaves out what nothing sets", () => {
  const parts = { description: "", production: false, helm_values: {}, env: { backend: {}, frontend: {} } };
  expect(contentOf(set({ ...parts, shared_api_keys: [], access: { groups: [] } }))).toEqual({});
});
