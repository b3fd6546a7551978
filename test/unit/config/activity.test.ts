import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { least } from "./least-settings.ts";

const activity = (given: object) => ({ ...least, activity: given });
const ingress = { controller: "traefik", urls: ["http://traefik-metrics.traefik:9100/metrics"] };
const prometheus = { url: "http://prometheus.monitoring:9090", query: "sum by (namespace) (requests_total)" };

describe("settings of activity", () => {
  test.each([
    ["are optional", least, undefined],
    ["name an ingress controller", activity({ ingress }), { ingress }],
    ["name a Prometheus", activity({ prometheus }), { prometheus }],
    [
      "send a token by https",
      activity({ prometheus: { ...prometheus, url: "https://prometheus.test", tokenFile: "/token" } }),
      { prometheus: { ...prometheus, url: "https://prometheus.test", tokenFile: "/token" } },
    ],
  ])("%s", (_what, given, expected) => {
    expect(settingsFrom(given).activity).toEqual(expected);
  });

  test.each([
    ["nothing", {}, "/activity: requests are counted by exactly one of ingress and prometheus: name one"],
    [
      "both",
      { ingress, prometheus },
      "/activity: requests are counted by exactly one of ingress and prometheus: name one",
    ],
    ["another controller", { ingress: { ...ingress, controller: "nginx" } }, "/activity/ingress/controller"],
    ["no address", { ingress: { ...ingress, urls: [] } }, "/activity/ingress/urls"],
    ["an address twice", { ingress: { ...ingress, urls: ["http://a/", "http://a/"] } }, "/activity/ingress/urls"],
    ["a credential in an address", { ingress: { ...ingress, urls: ["http://a:b@c/"] } }, "/activity/ingress/urls/0"],
    [
      "a wrong address",
      { ingress: { ...ingress, urls: ["http://[/"] } },
      "/activity/ingress/urls/0: 'http://[/' is no address",
    ],
    [
      "a wrong address",
      { prometheus: { ...prometheus, url: "http://a:x" } },
      "/activity/prometheus/url: 'http://a:x' is no address",
    ],
    [
      "a token in the clear",
      { prometheus: { ...prometheus, tokenFile: "/token" } },
      "/activity/prometheus/tokenFile: a token is only sent by https, or by http on loopback: change the url",
    ],
  ])("are refused with %s", (_what, given, message) => {
    expect(() => settingsFrom(activity(given))).toThrow(message);
  });
});
