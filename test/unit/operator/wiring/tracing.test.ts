import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const execute = promisify(execFile);
const root = new URL("../../../../", import.meta.url);

/** Makes the loader record every module of OpenTelemetry. `prom-client` loads the API alone, which is small. */
const NOTE = `
  import { registerHooks } from "node:module";
  globalThis.loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /@opentelemetry\\/([a-z-]+)/.exec(url) ?? [];
      if (name !== undefined && name !== "api") globalThis.loaded.add(name);
      return next(url, context);
    },
  });
  process.on("exit", () => process.stderr.write("LOADED " + JSON.stringify([...globalThis.loaded].sort())));
`;

async function loadedBy(...args: readonly string[]): Promise<readonly string[]> {
  const note = `data:text/javascript,${encodeURIComponent(NOTE)}`;
  const { stderr } = await execute(process.execPath, ["--import", note, ...args]);
  return JSON.parse(stderr.slice(stderr.indexOf("LOADED ") + "LOADED ".length));
}

const createdWith = (tracing: object) => [
  "--input-type=module",
  "--eval",
  `const { tracingOf } = await import("${new URL("operator/wiring/technologies.ts", root)}");
   const tracing = await tracingOf({ tracing: ${JSON.stringify(tracing)} }, { version: "1.2.3" });
   await tracing.span("GET", { kind: "request" }, async () => undefined);
   process.exit();`,
];

test("no part of the platform loads OpenTelemetry's SDK or exporter by itself", async () => {
  expect(await loadedBy(new URL("operator/main.ts", root).pathname, "--help")).toEqual([]);
}, 60_000);

test("they are loaded where an endpoint is set, and nowhere else", async () => {
  expect(await loadedBy(...createdWith({ sampleRatio: 1 }))).toEqual([]);
  const endpoint = "http://127.0.0.1:4318";
  expect(await loadedBy(...createdWith({ sampleRatio: 1, endpoint }))).toEqual(
    expect.arrayContaining(["context-async-hooks", "exporter-trace-otlp-http", "sdk-trace"]),
  );
}, 60_000);
