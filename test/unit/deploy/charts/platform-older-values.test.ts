import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { run } from "../../../../deploy/build/run.ts";
import { type Manifest, parseManifests } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { release, values } from "./rendered-platform.ts";

const chart = fileURLToPath(new URL("../../../../deploy/charts/platform", import.meta.url));
/** Content of these is the user's: `null` takes a default away, for good. */
const WHOLE = ["annotations", "labels", "resources"];

type Block = Record<string, unknown>;

const isBlock = (value: unknown): value is Block =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Paths of the blocks within a block, such as `["gate", "ingress"]`. */
function blocksOf(block: Block): string[][] {
  return Object.entries(block).flatMap(([name, value]) =>
    isBlock(value) ? [[name], ...(WHOLE.includes(name) ? [] : blocksOf(value).map((path) => [name, ...path]))] : [],
  );
}

/** The block with another value at that path, or without one. */
function changed(block: Block, [name = "", ...rest]: readonly string[], value?: unknown): Block {
  const { [name]: old, ...others } = block;
  if (rest.length > 0) return { ...others, [name]: changed(old as Block, rest, value) };
  return value === undefined ? others : { ...others, [name]: value };
}

const defaults = parse(await readFile(join(chart, "values.yaml"), "utf8")) as Block;
const blocks = blocksOf(defaults).filter(([name]) => name !== "settings");
const structures = blocks.filter((path) => path.length === 1);
const gateways = [{ name: "public" }];

/** Everything that can be switched on is, by values that say nothing else. */
const everything = {
  ...values(),
  createNamespace: true,
  exposure: {
    host: "platform.example.test",
    ingress: { enabled: true },
    httpRoute: { enabled: true, parentRefs: gateways },
  },
  gate: { enabled: true, ingress: { enabled: true }, httpRoute: { enabled: true, parentRefs: gateways } },
  metrics: { podMonitor: { enabled: true }, rules: { enabled: true }, dashboards: { enabled: true } },
};

describe("the values of an older release, as helm upgrade --reuse-values has them", () => {
  let helm: string;
  let folder: string;
  let copy: string;
  let expected: Manifest[];

  beforeAll(async () => {
    helm = await helmProgram();
    folder = await mkdtemp(join(tmpdir(), "older-values-"));
    copy = join(folder, "platform");
    await cp(chart, copy, { recursive: true });
    expected = await renderedFrom(defaults, everything);
  }, 30 * 60_000);

  afterAll(() => rm(folder, { recursive: true }));

  /** The chart's objects where these are its defaults. */
  async function renderedFrom(older: Block, given: object): Promise<Manifest[]> {
    await writeFile(join(copy, "values.yaml"), stringify(older));
    const file = join(folder, "given.json");
    await writeFile(file, JSON.stringify(given));
    const command = ["template", release.release, copy, "--namespace", release.namespace, "--values", file];
    return parseManifests(await run(helm, command));
  }

  test.each(blocks.map((path) => [path.join("."), path] as const))("may lack %s", async (_, path) => {
    expect(await renderedFrom(changed(defaults, path), everything)).toEqual(expected);
  });

  test("may have every block, and nothing in it", async () => {
    const empty = structures.reduce((older, path) => changed(older, path, {}), defaults);
    expect(await renderedFrom(empty, everything)).toEqual(expected);
  });

  test("may be the required ones alone", async () => {
    expect(await renderedFrom({}, everything)).toEqual(expected);
    expect(await renderedFrom({}, values())).toEqual(await renderedFrom(defaults, values()));
  });

  test("may be null, which stands for the default", async () => {
    const nothing = Object.fromEntries(Object.keys(defaults).map((name) => [name, null]));
    expect(await renderedFrom(defaults, { ...nothing, ...values() })).toEqual(await renderedFrom(defaults, values()));
  });

  test("keep what they took away from a default", async () => {
    const annotations = { "traefik.ingress.kubernetes.io/router.tls": null };
    const given = {
      ...everything,
      operator: { resources: { limits: null } },
      gate: { ...everything.gate, ingress: { enabled: true, annotations } },
    };
    const objects = await renderedFrom(defaults, given);
    const [ingress] = objects.filter(({ kind, metadata }) => kind === "Ingress" && metadata.name === "gate");
    expect(ingress?.metadata.annotations).toEqual({ "traefik.ingress.kubernetes.io/router.priority": "1" });
    const [operator] = objects.filter(({ kind, metadata }) => kind === "Deployment" && metadata.name === "platform");
    expect(JSON.stringify(operator?.spec)).toContain('"resources":{"requests":{"cpu":"100m","memory":"256Mi"}}');
  });
});
