import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";
import { type EventReader, readEvents } from "../../support/plane/event-reader.ts";

interface Followed {
  /** Creates the state before the followers. */
  prepare(service: ApiService): Promise<void> | void;
  count(service: ApiService): number;
}

/** Waits until a reader has received this many events. */
export const untilCame = (reader: EventReader, count: number) =>
  until(() => reader.events.length === count, { what: `${count} events` });

/** A service, and followers of its streams over separate connections; new for each test. */
export function streamFollowers({ prepare, count }: Followed) {
  let service: ApiService;
  let server: Server;
  let base: string;
  let readers: EventReader[];

  beforeEach(async () => {
    service = await startApiService();
    await prepare(service);
    readers = [];
    server = createServer(service.app).listen(0, "127.0.0.1");
    await once(server, "listening");
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    for (const reader of readers) reader.leave();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await until(() => count(service) === 0, { what: "the end of every follower" });
    await service.stop();
  });

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
    async follow(path: string, headers: object = {}, as: Person = "viewer"): Promise<EventReader> {
      const reader = await readEvents(`${base}${path}`, { authorization: await service.bearer(as), ...headers });
      readers.push(reader);
      return reader;
    },
  };
}
