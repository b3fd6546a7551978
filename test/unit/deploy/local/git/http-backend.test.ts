import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { git } from "../../../../../deploy/local/git/repositories.ts";
import { programUsers } from "../../../../../deploy/local/processes/unprivileged.ts";
import { freePorts } from "../../../../support/fixtures/free-ports.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { rawConnection } from "../../../../support/http/raw-connection.ts";

const script = resolve(import.meta.dirname, "../../../../../deploy/local/git/serve.ts");
const refs = "/platform/chart.git/info/refs?service=git-upload-pack";

describe("the git server", () => {
  let folder: string;
  let root: string;
  let server: ChildProcess;
  let url: string;
  let errors: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "git-server-"));
    await chmod(folder, 0o755);
    root = join(folder, "served");
    await mkdir(join(root, "platform"), { recursive: true });
    await git(root, ["init", "--quiet", "--bare", join(root, "platform/chart.git")]);
  });

  afterEach(async () => {
    const ended = once(server, "exit");
    if (server.exitCode === null && server.kill("SIGKILL")) await ended;
    await rm(folder, { recursive: true });
  });

  const start = async ({ cwd = folder, user = [] }: { cwd?: string; user?: readonly string[] }) => {
    const [port = 0] = await freePorts(1);
    url = `http://127.0.0.1:${port}`;
    errors = "";
    server = spawn(process.execPath, [script, String(port), root, ...user], {
      cwd,
      stdio: ["ignore", "inherit", "pipe"],
    });
    server.stderr?.on("data", (chunk) => {
      errors += chunk;
    });
    const answers = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    await until(answers, { what: "the git server" });
  };

  const statusOf = async (request: string) => rawConnection(url, request).status();
  const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: git\r\nConnection: close\r\n\r\n`;

  test.each([
    { name: "a path of two slashes", request: get("//"), status: 400 },
    { name: "a host in place of a path", request: get("//other/a"), status: 400 },
    { name: "an asterisk", request: "OPTIONS * HTTP/1.1\r\nHost: git\r\nConnection: close\r\n\r\n", status: 400 },
    { name: "a path that git knows nothing of", request: get("/nothing.git/info/refs"), status: 404 },
    { name: "what is no HTTP", request: "hello\r\n\r\n", status: 400 },
  ])("answers $name with $status and serves on", async ({ request, status }) => {
    await start({});
    expect(await statusOf(request)).toBe(status);
    expect((await fetch(`${url}${refs}`)).status).toBe(200);
  });

  test("writes what git complains of to its own standard error", async () => {
    await start({});
    expect((await fetch(`${url}/a//b`)).status).toBe(500);
    await until(() => errors.includes("aliased"), { what: "git's words" });
  });

  const isRoot = process.getuid?.() === 0;
  (isRoot ? test : test.skip)("runs git as another user, from a folder that this user may not enter", async () => {
    const closed = join(folder, "of root alone");
    const checkout = join(closed, "a checkout");
    await mkdir(checkout, { recursive: true });
    await chmod(closed, 0o700);
    await start({ cwd: checkout, user: [String(programUsers.gitServer.uid)] });
    expect((await fetch(`${url}${refs}`)).status).toBe(200);
  });
});
