import { describe, expect, test } from "@jest/globals";
import { partOf, specFields } from "../../../../crds/environment/owned-fields.ts";

const spec = {
  ttlHours: 5,
  backend: { repository: "shop-api", branch: "main", commit: "" },
  secrets: { provided: ["ONE", "TWO"] },
  overrides: {
    values: [
      { path: "a", value: 1 },
      { path: "b", value: 2 },
    ],
  },
  access: { groups: ["shop"] },
};

describe("the part of a spec that a field manager owns", () => {
  test.each<[string, object, object]>([
    ["a scalar", { "f:ttlHours": {} }, { ttlHours: 5 }],
    ["some fields of an object", { "f:backend": { ".": {}, "f:branch": {} } }, { backend: { branch: "main" } }],
    ["an object whose fields others own", { "f:backend": { ".": {} } }, { backend: {} }],
    ["an object as one", { "f:access": {} }, { access: { groups: ["shop"] } }],
    ["members of a set", { "f:secrets": { "f:provided": { 'v:"TWO"': {} } } }, { secrets: { provided: ["TWO"] } }],
    [
      "an element of a list by its key",
      { "f:overrides": { "f:values": { 'k:{"path":"b"}': { ".": {}, "f:path": {}, "f:value": {} } } } },
      { overrides: { values: [{ path: "b", value: 2 }] } },
    ],
    ["a field that is gone", { "f:suspended": {}, "f:ttlHours": {} }, { ttlHours: 5 }],
  ])("%s", (_what, fields, owned) => {
    expect(partOf(spec, fields as never)).toEqual(owned);
  });

  test("of two entries of one manager, both count", () => {
    const written = [
      { fieldsV1: { "f:spec": { "f:backend": { "f:branch": {} } } } },
      { fieldsV1: { "f:metadata": {} } },
      { fieldsV1: { "f:spec": { "f:backend": { "f:commit": {} }, "f:ttlHours": {} } } },
    ];
    expect(partOf(spec, specFields(written))).toEqual({ ttlHours: 5, backend: { branch: "main", commit: "" } });
  });
});
