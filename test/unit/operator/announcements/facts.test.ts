import { expect, test } from "@jest/globals";
import { FACT_MAX_LENGTH } from "../../../../crds/notifications/notification.schema.ts";
import { environmentFacts } from "../../../../operator/announcements/announcer.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const factsOf = (hosts?: Record<string, string>) =>
  environmentFacts(environmentFixture({ status: { urls: hosts === undefined ? {} : { hosts } } }), "ready");

test("a message says the further hosts", () => {
  const hosts = { admin: "https://shop--admin.env.test", docs: "https://shop--docs.env.test" };
  expect(factsOf(hosts).hostUrls).toBe("admin: https://shop--admin.env.test, docs: https://shop--docs.env.test");
  expect(factsOf()).not.toHaveProperty("hostUrls");
});

test("a message has no URL that is cut", () => {
  const urlOf = (name: string) => `https://shop--${name}.${"x".repeat(60)}.env.test`;
  const hosts = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`host-${at}`, urlOf(`host-${at}`)]));
  const { hostUrls = "" } = factsOf(hosts);
  expect(hostUrls.length).toBeLessThanOrEqual(FACT_MAX_LENGTH);
  const parts = hostUrls.split(", ");
  expect(parts.length).toBeGreaterThan(3);
  expect(parts).toEqual(parts.map((_, at) => `host-${at}: ${urlOf(`host-${at}`)}`));
});
