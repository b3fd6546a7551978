import { expect, test } from "@jest/globals";
import document from "../../../../../api/openapi.json" with { type: "json" };
import { addressOf, CHOICES, queryFrom } from "../../../../../clients/console/webhooks/delivery-query.ts";

const NONE = { status: "", event: "", source: "", repository: "", offset: 0 };

test.each([
  [NONE, "/console/webhooks"],
  [
    { ...NONE, status: "failed", repository: "shop api", offset: 100 },
    "/console/webhooks?status=failed&repository=shop+api&offset=100",
  ],
])("the address of deliveries is read as it was written: %j", (query, address) => {
  expect(addressOf(query)).toBe(address);
  expect(queryFrom(Object.fromEntries(new URL(address, "https://console").searchParams))).toEqual(query);
});

test.each(CHOICES)("the filter $label offers what the interface knows", ({ field, values }) => {
  const { parameters } = document.paths["/api/v2/webhooks/deliveries"].get;
  const own = parameters.find((one) => "name" in one && one.name === field) as {
    schema: { enum?: string[]; anyOf?: { const: string }[] };
  };
  expect(values).toEqual(own.schema.enum ?? own.schema.anyOf?.map(({ const: value }) => value));
});
