import type { Person } from "../../support/http/api-service.ts";
import type { EventReader } from "../../support/plane/event-reader.ts";
import { streamFollowers } from "./stream-followers.ts";

export const PATH = "/api/v2/environments/shop/logs/backend/stream";

export const messagesOf = ({ events }: EventReader) => events.map(({ data }) => (data as { message: string }).message);

/** An environment with a log, and its followers; new for each test. */
export function logFollowers() {
  const followers = streamFollowers({
    async prepare({ environments, podLogs }) {
      await environments.create("shop", {
        backend: { repository: "shop-api", branch: "main" },
        access: { groups: ["shop"] },
      });
      podLogs.holdFollowers();
    },
    count: ({ podLogs }) => podLogs.followers,
  });
  return {
    get service() {
      return followers.service;
    },
    get base() {
      return followers.base;
    },
    get readers() {
      return followers.readers;
    },
    write: (text: string, at = new Date()) => followers.service.podLogs.write("shop", "backend", { at, text }),
    follow: (query = "", headers: object = {}, as: Person = "viewer") =>
      followers.follow(`${PATH}${query}`, headers, as),
  };
}
