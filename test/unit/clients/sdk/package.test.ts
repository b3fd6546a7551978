import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../../../..");
const compiler = join(checkout, "node_modules/.bin/tsc");

const PROGRAM = `import { createClient, PlatformError } from "ephemeral-environments-client";
const platform = createClient({ url: process.argv[2] ?? "", token: process.env.EENV_TOKEN });
const { environment } = await platform.call("POST /api/v2/environments", {
  body: { environment_name: "shop-test", backend_repo: "shop-api", backend_branch: "main" },
});
const name: string = environment.name;
// @ts-expect-error no such operation
const wrong = () => platform.call("GET /api/v2/nothing");
// @ts-expect-error the body is wanted
const empty = () => platform.call("POST /api/v2/environments");
process.stdout.write(JSON.stringify({ name, refusal: PlatformError.name, unused: [wrong, empty].length }));
`;
const STRICT = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "dom", "dom.iterable"],
    module: "nodenext",
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  },
  include: ["main.ts", "process.d.ts"],
};

let folder: string;
let server: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sdk-package-"));
  server = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ status: "success", data: { environment: { name: "shop-test" } } }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterAll(async () => {
  await new Promise((closed) => server.close(closed));
  await rm(folder, { recursive: true });
});

test("the package compiles under the strictest settings of its user, and runs without anything else", async () => {
  const packed = join(folder, "packed");
  await cp(join(checkout, "clients/sdk/package.json"), join(packed, "package.json"), { recursive: true });
  await execute(compiler, ["-p", join(checkout, "clients/sdk"), "--outDir", join(packed, "dist")]);
  const { stdout } = await execute("npm", ["pack", packed, "--pack-destination", folder, "--json"], { cwd: folder });
  const [{ filename, files }] = JSON.parse(stdout);
  expect(files.map(({ path }: { path: string }) => path).filter((path: string) => !path.startsWith("dist/"))).toEqual([
    "package.json",
  ]);
  const user = join(folder, "user");
  await mkdir(user);
  await writeFile(join(user, "package.json"), JSON.stringify({ name: "user", type: "module", private: true }));
  await execute("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, filename)], { cwd: user });
  expect((await readdir(join(user, "node_modules"))).filter((name) => !name.startsWith("."))).toEqual([
    "ephemeral-environments-client",
  ]);
  await writeFile(join(user, "main.ts"), PROGRAM);
  const declared =
    "declare const process: { argv: string[]; env: Record<string, string | undefined>; stdout: { write(text: string): void } };";
  await writeFile(join(user, "process.d.ts"), declared);
  await writeFile(join(user, "tsconfig.json"), JSON.stringify(STRICT));
  await execute(compiler, ["-p", user]);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ran = await execute(process.execPath, [join(user, "main.js"), url]);
  expect(JSON.parse(ran.stdout)).toEqual({ name: "shop-test", refusal: "PlatformError", unused: 2 });
}, 120_000);
