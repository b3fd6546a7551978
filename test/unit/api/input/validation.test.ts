import { expect, test } from "@jest/globals";
import type { TSchema } from "typebox";
import { checker } from "../../../../api/input/validation.ts";
import { listRoutes } from "../../../../api/routes.ts";

test("a schema is compiled when the first value comes, and not before", () => {
  const check = checker({ type: "string", "a word that no validator knows": true } as unknown as TSchema);
  expect(() => check("")).toThrow("a word that no validator knows");
});

test("every schema of the interface can be compiled, so that no request is the first to find out", () => {
  const schemas = listRoutes().flatMap(({ contract: { params, query, headers, body } }) =>
    [params, query, headers, body].filter((schema) => schema !== undefined),
  );
  expect(schemas.length).toBeGreaterThan(50);
  for (const schema of schemas) expect(() => checker(schema)({})).not.toThrow();
});
