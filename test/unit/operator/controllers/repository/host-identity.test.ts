import { describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../../../crds/conditions.ts";
import { hostIdOf, type Repository } from "../../../../../crds/repository/repository.ts";
import type { WebhookDeliverySpec } from "../../../../../crds/webhooks/webhook-delivery.ts";
import { hasNewIdentity, identified } from "../../../../../operator/controllers/repository/host-identity.ts";
import { CREATED, repositoryFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { webhookDeliveryFixture } from "../../../../support/fixtures/webhooks/webhook-fixture.ts";

const now = new Date(Date.parse(CREATED) + 3_600_000);
const at = (minute: number) => new Date(Date.parse(CREATED) + minute * 60_000).toISOString();
const old = { id: "4712", fullName: "acme/old" };
const renamed = { ...old, fullName: "acme/new" };
/** Identity with the host that it is known from. */
const known = <T>(identity: T) => ({ ...identity, host: "git" });

function repository(spec: Partial<Repository["spec"]> = {}, status?: Repository["status"]): Repository {
  return {
    ...repositoryFixture("shop-api", { host: "git", fullName: "acme/old", ...spec }),
    ...(status && { status }),
  };
}

const delivery = (more: Partial<WebhookDeliverySpec>) =>
  webhookDeliveryFixture(more.receivedAt ?? "one", {
    host: "git",
    repositories: ["shop-api"],
    hostRepository: old,
    receivedAt: at(1),
    ...more,
  });

const condition = (status: Repository["status"]) => findCondition(status?.conditions, "NameCurrent");

test("the id is that of the first delivery, and the name that of the newest", () => {
  const first = identified(repository(), [delivery({})], now);
  expect(first?.hostRepository).toEqual(known(old));
  expect(condition(first)).toMatchObject({ status: "True", reason: "AsRegistered" });
  const deliveries = [delivery({ hostRepository: renamed, receivedAt: at(2) }), delivery({})];
  const second = identified(repository({}, first), deliveries, now);
  expect(second?.hostRepository).toEqual(known(renamed));
  expect(condition(second)).toMatchObject({
    status: "False",
    reason: "Renamed",
    message: "the host calls it acme/new: correct spec.fullName and spec.cloneUrl",
  });
  const corrected = repository({ fullName: "acme/new" }, second);
  expect(condition(identified(corrected, deliveries, now))).toMatchObject({ status: "True" });
});

test("a name that a host repeats later is a former one", () => {
  const pullRequest = (minute: number) => ({ type: "pull_request", pullRequest: { updatedAt: at(minute) } }) as never;
  const repeated = delivery({ event: pullRequest(1), receivedAt: at(9) });
  const newer = delivery({ hostRepository: renamed, event: pullRequest(5), receivedAt: at(5) });
  expect(identified(repository(), [newer, repeated], now)?.hostRepository).toEqual(known(renamed));
});

test("an id is of one host: the Repository's next host gives another one", () => {
  const moved = repository({ host: "other" }, identified(repository(), [delivery({})], now));
  expect(hostIdOf(moved)).toBeUndefined();
  const status = identified(moved, [delivery({})], now);
  expect(status).not.toHaveProperty("hostRepository");
  const first = delivery({ host: "other", hostRepository: { id: "7", fullName: "acme/old" }, receivedAt: at(2) });
  const learnt = identified(repository({ host: "other" }, status), [delivery({}), first], now);
  expect(learnt?.hostRepository).toEqual({ id: "7", fullName: "acme/old", host: "other" });
  expect(hostIdOf(repository({ host: "other" }, learnt))).toBe("7");
});

test("an id that an older release stored is of the present host", () => {
  const status = { hostRepository: old, conditions: [] };
  expect(hostIdOf(repository({}, status))).toBe(old.id);
  expect(identified(repository({}, status), [], now)?.hostRepository).toEqual(known(old));
});

test("nothing is written again", () => {
  const status = identified(repository(), [delivery({})], now);
  expect(identified(repository({}, status), [delivery({})], now)).toBeUndefined();
  expect(identified(repository({}, status), [], now)).toBeUndefined();
  expect(identified(repository(), [], now)).toBeUndefined();
  expect(hasNewIdentity(repository({}, status), delivery({}))).toBe(false);
  expect(hasNewIdentity(repository({}, status), delivery({ hostRepository: renamed }))).toBe(true);
});

describe("abuse: nothing else is learnt", () => {
  const stranger = { id: "9999", fullName: "acme/old" };
  test.each<[string, Partial<WebhookDeliverySpec>]>([
    ["of a delivery that was not verified", { verified: false }],
    ["of a delivery of another host", { host: "other" }],
    ["of a delivery of another Repository", { repositories: ["other"] }],
    ["of a delivery from before the Repository", { receivedAt: at(-1) }],
  ])("%s", (_of, more) => {
    expect(identified(repository(), [delivery(more)], now)).toBeUndefined();
  });

  test("of another id, once one is known", () => {
    const status = identified(repository(), [delivery({})], now);
    const later = delivery({ hostRepository: stranger, receivedAt: at(2) });
    expect(identified(repository({}, status), [delivery({}), later], now)).toBeUndefined();
    expect(identified(repository(), [later, delivery({})], now)?.hostRepository).toEqual(known(old));
  });

  test("than what a person says: another id in the spec takes the place of the learnt one", () => {
    const status = identified(repository(), [delivery({})], now);
    const reported = repository({ hostId: "9999" }, status);
    const after = identified(reported, [delivery({})], now);
    expect(after).not.toHaveProperty("hostRepository");
    expect(condition(after)).toBeUndefined();
    expect(identified(reported, [delivery({ hostRepository: stranger })], now)?.hostRepository).toEqual(
      known(stranger),
    );
  });
});
