import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { create, Environments, untilGone, untilReady } from "./support/environments.ts";
import { kubectl } from "./support/kubectl.ts";
import { podSecret, storedSecrets } from "./support/secrets.ts";
import { stateFolder, TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

type Values = Readonly<Record<string, string>>;

const environments = new Environments();
afterAll(() => environments.removeAll());

const logFolder = join(stateFolder, "cluster/log");
const logs = [
  "operator",
  "argocd-application-controller",
  "argocd-repo-server",
  "kube-apiserver",
  "kubelet",
  "traefik",
];

test("a generated value appears in Secrets alone, in no encoding elsewhere, during an environment's life and after it", async () => {
  const name = environments.name("secret");
  const id = await create(name);
  await untilReady(name);
  const values = await expectGenerated(name, id);

  const readable = await everythingReadable();
  expect(readable).toContain(`"name": "${name}"`);
  expect(leaksIn(readable, values)).toEqual([]);
  const replies = [await ask("GET", `/environments/${id}`), await ask("GET", `/environments?search=${name}`)];
  expect(leaksIn(JSON.stringify(replies.map(({ body }) => body)), values)).toEqual([]);
  const podLogs = await kubectl("logs", `--namespace=env-${name}`, "--selector=app.kubernetes.io/component");
  expect(podLogs).toContain("DATABASE_PASSWORD");
  expect(leaksIn(podLogs, values)).toEqual([]);

  expect((await ask("DELETE", `/environments/${id}`)).status).toBe(200);
  await untilGone(name);
  expect(leaksIn(await everythingReadable(), values)).toEqual([]);
  await expectNoneInLogs(name, values);
});

/** The manager's values equal the pods', are long enough, and are found by the search. */
async function expectGenerated(name: string, id: string): Promise<Values> {
  const values = await podSecret(name);
  const [[, stored] = ["", {}], ...more] = await storedSecrets(id);
  expect(more).toEqual([]);
  expect(Object.values(stored).sort()).toEqual(Object.values(values).sort());
  for (const value of Object.values(values)) expect(value.length).toBeGreaterThanOrEqual(24);
  const secrets = await kubectl("get", "secrets", `--namespace=env-${name}`, "--output=json");
  expect(leaksIn(secrets, values)).toEqual(Object.keys(values));
  return values;
}

async function expectNoneInLogs(name: string, values: Values): Promise<void> {
  const files = await readdir(logFolder);
  expect(files).toEqual(expect.arrayContaining(logs.map((program) => `${program}.log`)));
  for (const file of files) {
    const log = await readFile(join(logFolder, file), "utf8");
    expect({ file, leaks: leaksIn(log, values) }).toEqual({ file, leaks: [] });
  }
  expect(await readFile(join(logFolder, "operator.log"), "utf8")).toContain(name);
}

async function everythingReadable(): Promise<string> {
  const kinds = (await kubectl("api-resources", "--verbs=list", "--output=name")).trim().split("\n");
  const others = kinds.filter((kind) => kind !== "secrets");
  expect(others).toEqual(expect.arrayContaining(["applications.argoproj.io", "configmaps", "events"]));
  return kubectl("get", others.join(), "--all-namespaces", "--output=json");
}

/** Variables whose value is in the text: plain, or encoded as by an API server or a log. */
function leaksIn(text: string, values: Values): readonly string[] {
  const forms = (value: string) => {
    const bytes = Buffer.from(value);
    return [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      bytes.toString("hex"),
      ...base64(bytes),
    ];
  };
  return Object.keys(values).filter((variable) => forms(values[variable] ?? "").some((form) => text.includes(form)));
}

/** The three Base64 encodings of a value within a longer text, by its offset, without characters shared with neighbours. */
function base64(bytes: Buffer): readonly string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replaceAll("=", "");
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1);
  });
}
