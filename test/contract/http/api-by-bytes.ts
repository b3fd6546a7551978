import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { type ApiServer, startServer } from "../../../api/http/server.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";
import { type RawConnection, rawConnection } from "../../support/http/raw-connection.ts";

/** A request without a body, with these lines after the first two. */
export const head = (line: string, ...lines: string[]) =>
  [`${line} HTTP/1.1`, "Host: x", ...lines, "", ""].join("\r\n");
export const JSON_TYPE = "Content-Type: application/json";

/**
 * The API behind its own server, reached by bytes that no HTTP client would send. Each test ends with a check that it has
 * created nothing and still answers.
 */
export function apiByBytes() {
  let service: ApiService;
  let server: ApiServer;
  let authorization: string;

  beforeAll(async () => {
    service = await startApiService();
    authorization = await service.bearer("developer");
    const options = { host: "127.0.0.1", port: 0, clock: systemClock, log: silentLog, stopping: new AbortController() };
    server = await startServer(service.app, options);
  });
  const open = new Set<RawConnection>();

  afterEach(async () => {
    for (const { socket } of open) socket.destroy();
    open.clear();
    expect(service.environments.list()).toEqual([]);
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
  });
  afterAll(async () => {
    await server.stop({ graceMs: 0 });
    await service.stop();
  });

  const raw = (text = "", { url } = server) => {
    const connection = rawConnection(url, text);
    open.add(connection);
    return connection;
  };
  const post = (...lines: string[]) => head("POST /api/environments", `Authorization: ${authorization}`, ...lines);

  return {
    get service() {
      return service;
    },
    get server() {
      return server;
    },
    get authorization() {
      return authorization;
    },
    raw,
    post,
  };
}
