import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
let authorization: string;
beforeAll(async () => {
  service = await startApiService();
  authorization = await service.bearer("developer");
});
afterEach(() => expect(service.environments.list()).toEqual([]));
afterAll(() => service.stop());

const valid = { environment_name: "fine", backend_repo: "shop-api", backend_branch: "main" };
const post = () => service.http.post("/api/environments").set({ authorization });
const postText = (body: string | Buffer, type = "application/json") => post().set("content-type", type).send(body);

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const withOverrides = (json: string) => `${JSON.stringify(valid).slice(0, -1)},"config_overrides":${json}}`;

describe("a body is refused before anything is made of it when", () => {
  test.each([
    ["broken JSON", "{"],
    ["two values", `${JSON.stringify(valid)}{}`],
    ["a comment", `/**/${JSON.stringify(valid)}`],
    ["NaN", '{"ttl":NaN}'],
    ["an unfinished string", '{"environment_name":"x'],
    ["nesting of 33", withOverrides(nested(32))],
    ["nesting of 100,000", nested(100_000)],
    ["a key twice", '{"environment_name":"one","environment_name":"two"}'],
    ["a key twice, once escaped", '{"ttl":1,"t\\u0074l":2}'],
    ["__proto__", withOverrides('{"__proto__":{"x":1}}')],
    ["__proto__, escaped", withOverrides('{"\\u005f_proto__":{"x":1}}')],
    ["constructor.prototype", withOverrides('{"constructor":{"prototype":{"x":1}}}')],
  ])("it has %s", async (_case, body) => {
    expectProblem(await postText(body), 400);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test("it is not UTF-8", async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    expectProblem(await postText(bytes).serialize((raw) => raw), 400, /UTF-8/);
  });

  test("it has a number of a hundred thousand digits", async () => {
    expectProblem(await postText(`{"ttl":${"9".repeat(100_000)}}`), 400, /ttl/, "ENV_CONFIG_INVALID");
  });

  test.each(["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/json; charset=utf-16"])(
    "its type is %j",
    async (type) => {
      const reply = await postText(JSON.stringify(valid), type);
      expectProblem(reply, 415);
      expectPromised(reply, "post", "/api/environments");
    },
  );

  test("it is compressed", async () => {
    expectProblem(await postText(JSON.stringify(valid)).set("content-encoding", "gzip"), 415);
  });

  test("a form comes where only JSON is taken", async () => {
    const put = service.http.put("/api/environments/x").set({ authorization }).type("form").send("ttl_hours=4");
    expectProblem(await put, 415, "Send the body as application/json");
  });

  test("it is over 512 KiB", async () => {
    const reply = await postText(JSON.stringify({ ...valid, x: "y".repeat(524_288) }));
    expectProblem(reply, 413, /524288 bytes/);
    expectPromised(reply, "post", "/api/environments");
  });
});

test("a body that its sender cuts off is refused, and is no fault of ours", async () => {
  const server = createServer(service.app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const headers = { authorization, "content-type": "application/json", "content-length": "1000" };
  const cut = request({ host: "127.0.0.1", port, method: "POST", path: "/api/environments", headers });
  cut.on("error", () => undefined);
  cut.write('{"environment_name":');
  await once(server, "request");
  const before = service.log.length;
  cut.destroy();
  await until(() => service.log.length > before, { what: "the line about the request" });
  server.close();
  await once(server, "close");
  expect(service.log.slice(before).filter(({ level }) => level === "error")).toEqual([]);
});

describe("a form is refused when", () => {
  const form = "environment_name=fine&backend_repo=shop-api&backend_branch=main";
  test.each([
    ["a field twice", `${form}&ttl=1&ttl=2`],
    ["brackets that reach for a prototype", `${form}&a[__proto__][x]=1`],
    ["__proto__", `${form}&__proto__=1`],
    ["a hundred thousand fields", `${form}${"&a".repeat(100_000)}`],
    ["a field that is not known", `${form}&x=1`],
    ["an integer in another notation", `${form}&ttl=0x10`],
    ["an integer with spaces", `${form}&ttl=+7`],
    ["a boolean in another word", `${form}&provision_database=maybe`],
    ["broken JSON in config_overrides", `${form}&config_overrides={`],
    ["a deep config_overrides", `${form}&config_overrides=${nested(40)}`],
    ["a TTL above the maximum", `${form}&ttl=169`],
  ])("it has %s", async (_case, body) => {
    const reply = await postText(body, "application/x-www-form-urlencoded");
    expect(reply.status).toBe(400);
    expectPromised(reply, "post", "/api/environments");
  });
});
