import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type CommandLine, eenvFile, startCommandLine } from "../../../support/cli/command-line.ts";

let line: CommandLine;
const servers: Server[] = [];
beforeAll(async () => {
  line = await startCommandLine();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
afterAll(() => line.stop());

async function answering(type: string, body: string): Promise<string> {
  const server = createServer((_, response) => response.setHeader("content-type", type).end(body));
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("EENV_TOKEN", () => {
  test.each(["svc_one\nsecret", "svc_sécret€", "svc one secret"])(
    "with other characters is not shown",
    async (token) => {
      const { code, stderr } = await line.eenv("developer", ["list"], { env: { EENV_TOKEN: token } });
      expect({ code, stderr }).toEqual({ code: 4, stderr: "eenv: EENV_TOKEN is not a token\n" });
    },
  );

  test("may end with a line end, as files do", async () => {
    const { value } = await line.service.makeToken("developer");
    const env = { EENV_TOKEN: `${value}\n` };
    expect(await line.eenv("developer", ["whoami", "-o", "name"], { env })).toMatchObject({ code: 0 });
  });
});

describe("EENV_URL", () => {
  test.each(["/", "/console", "/console/", "/console/environments/shop?tab=logs"])(
    "may be the console's, %s",
    async (path) => {
      const env = { EENV_URL: `${line.url}${path}` };
      expect(await line.eenv("developer", ["list"], { env })).toMatchObject({ code: 0 });
    },
  );

  test.each([
    ["a page", "text/html", "<!doctype html>"],
    ["other JSON", "application/json", "null"],
  ])("of a server that answers with %s names it", async (_, type, body) => {
    const url = await answering(type, body);
    const reported = `eenv: ${new URL(url).host} answered 200 OK, but not as a platform does\n`;
    const { code, stderr } = await line.eenv("developer", ["list"], { env: { EENV_URL: url } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: reported });
  });
});

test("an issuer that can't be reached is named, not the platform", async () => {
  const issuer = { issuer: "http://127.0.0.1:1/", client_id: "eenv", flows: ["loopback"], scopes: ["openid"] };
  const url = await answering("application/json", JSON.stringify({ data: { issuers: [issuer], console_url: null } }));
  const { code, stderr } = await line.eenv("developer", ["login"], { env: { EENV_URL: url } });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${issuer.issuer} can't be reached: `) });
});

test.each(["{", "{}", "[]"])("a file of credentials with %s is named", async (content) => {
  const file = join(line.home, "credentials.json");
  await mkdir(line.home, { recursive: true });
  await writeFile(file, content);
  const { ended } = line.spawn(process.execPath, [eenvFile, "list"], { env: { EENV_CONFIG_DIR: line.home } });
  const { code, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${file} can't be read: `) });
});

test.each(["30d", "100000h", "0.0001s"])(
  "a time of %s, which no timer of Node has, is not waited for",
  async (time) => {
    const { code, stderr } = await line.eenv("developer", ["wait", "shop", "--timeout", time]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("from 1 second to 24 days") });
  },
);

test("what a platform says is without what a terminal obeys, on stderr too", async () => {
  const data = { id: "1", name: "shop\u001b[31m", ttl_hours: 1, expires_at: "2026-06-01T12:00:00Z" };
  const env = { EENV_URL: await answering("application/json", JSON.stringify({ data })) };
  const { stderr } = await line.eenv("developer", ["extend", "shop", "1h", "-o", "json"], { env });
  expect(stderr).toBe("shop expires at 2026-06-01T12:00:00Z.\n");
});

test.each([
  ["", "stdin has no fields"],
  ["a: [", "stdin is neither YAML nor JSON"],
])("a document '%s' on stdin is named as such", async (input, reported) => {
  const { code, stderr } = await line.eenv("developer", ["config-set", "apply", "-f", "-"], { input });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`eenv: ${reported}`) });
});

test.each([
  ["127.0.0.1", false],
  ["0.0.0.0", true],
])("at a log-in without TLS at %s, others may read the token: %s", async (host, isNamed) => {
  const { value } = await line.service.makeToken("developer");
  const url = line.url.replace("127.0.0.1", host);
  const { code, stderr } = await line.eenv("outsider", ["login", "--with-token", "--url", url], { input: value });
  expect({ code, isNamed: stderr.includes(`${url} has no TLS`) }).toEqual({ code: 0, isNamed: isNamed });
});
