import { expect, test } from "@jest/globals";
import { type MapTemplate, readValues } from "../../../../crds/chart-values/mapping.ts";
import { knowsSuspension } from "../../../../crds/repository/values-mapping.ts";

test.each([
  { values: "replicaCount: ${backend.replicas}", knows: true },
  { values: "web: [{count: '${frontend.replicas}'}]", knows: true },
  { values: "autoscaling: {enabled: '${replicas.orZero(1)}'}", knows: true },
  { values: "note: asleep is ${suspended}", knows: true },
  { values: "image: ${backend.image}", knows: false },
  { values: "replicaCount: 1", knows: false },
])("values with $values are others while suspended: $knows", ({ values, knows }) => {
  expect(knowsSuspension(readValues(values) as MapTemplate)).toBe(knows);
});

test("the platform's layout is another while suspended", () => {
  expect(knowsSuspension(undefined)).toBe(true);
});
