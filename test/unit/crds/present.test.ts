import { expect, test } from "@jest/globals";
import { present } from "../../../crds/present.ts";

test("an undefined field is left out, and an empty one stays", () => {
  const fields: { name: string; note?: string | undefined; count: number | undefined } = {
    name: "",
    note: undefined,
    count: 0,
  };
  expect(Object.entries(present(fields))).toEqual([
    ["name", ""],
    ["count", 0],
  ]);
});
