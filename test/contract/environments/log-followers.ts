import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";
import { type EventReader, readEvents } from "../../support/plane/event-reader.ts";

/** The stream that all callers follow. */
export const PATH = "/api/v2/environments/shop/logs/backend/stream";

/** The lines that a reader has got. */
export const messagesOf = ({ events }: EventReader) => events.map(({ data }) => (data as { message: string }).message);
/** Waits until a reader has got this many events. */
export const untilCame = (reader: EventReader, count: number) =>
  until(() => reader.events.length === count, { what: `${count} events` });

/** An environment with a log, and callers who follow it over connections of their own; new for each test. */
export function logFollowers() {
  let service: ApiService;
  let server: Server;
  let base: string;
  let readers: EventReader[];

  beforeEach(async () => {
    service = await startApiService();
    await service.environments.create("shop", {
      backend: { repository: "shop-api", branch: "main" },
      access: { groups: ["shop"] },
    });
    service.podLogs.holdFollowers();
    readers = [];
    server = createServer(service.app).listen(0, "127.0.0.1");
    await once(server, "listening");
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    for (const reader of readers) reader.leave();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await until(() => service.podLogs.followers === 0, { what: "the end of every follower" });
    await service.stop();
  });

  const write = (text: string, at = new Date()) => service.podLogs.write("shop", "backend", { at, text });

  async function follow(query = "", headers: object = {}, as: Person = "viewer"): Promise<EventReader> {
    const reader = await readEvents(`${base}${PATH}${query}`, { authorization: await service.bearer(as), ...headers });
    readers.push(reader);
    return reader;
  }

  return {
    get service() {
      return service;
    },
    get base() {
      return base;
    },
    get readers() {
      return readers;
    },
    write,
    follow,
  };
}
