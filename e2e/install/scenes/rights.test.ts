import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { create, Environments, untilReady } from "../../support/environments.ts";
import { installed, values } from "../../support/installation/installation.ts";
import { namespace, replicas } from "../../support/installation/replicas.ts";
import { apply, execInPod, kubectl } from "../../support/kubectl.ts";
import { podSecretName } from "../../support/secrets.ts";
import { checkout, names, TEST_DEADLINE_MS } from "../../support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const name = environments.name("rights");
const foreign = `of-others-${environments.mark}`;

beforeAll(async () => {
  await installed(values());
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: foreign } });
  await apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "treasure", namespace: foreign },
    stringData: { a: "b" },
  });
  await create(name);
  await untilReady(name);
});
afterAll(async () => {
  await kubectl("delete", "namespace", foreign, "--wait=false");
  await environments.removeAll();
});

describe("the platform's account may do exactly what docs/rights.md says, beside what every account may", () => {
  const document = readFileSync(join(checkout, "docs/rights.md"), "utf8");

  test.each([
    ["in the release's namespace", namespace, "the release's namespace"],
    ["where events about environments are", "default", "the namespace `default`"],
    ["in the secret manager's namespace", names.secretStoreNamespace, "`settings.secretsNamespace`"],
    ["in the deployer's namespace", names.deployerNamespace, "`settings.deployer.namespace`"],
    ["in an environment's namespace", `env-${name}`, "each environment's namespace"],
    ["in kube-system", "kube-system", undefined],
    ["in a namespace of others", foreign, undefined],
  ])("%s", async (_, place, section) => {
    const documented = ["the whole cluster", ...(section === undefined ? [] : [section])].flatMap(rightsOf);
    const expected = new Set([...documented, ...(await allowed("system:serviceaccount:default:nobody", place))]);
    const found = await allowed(`system:serviceaccount:${namespace}:platform`, place);
    expect(found).toEqual([...expected].sort());
  });

  /** Rights of the tables below the headings of that place, as `verb resource name`. */
  function rightsOf(place: string): readonly string[] {
    const sections = document.split("\n## ").filter((text) => text.split("\n")[0]?.includes(`: ${place}`));
    if (sections.length === 0) throw new Error(`docs/rights.md says nothing of ${place}`);
    const rows = sections.flatMap((text) => text.split("\n").filter((line) => line.startsWith("| `")));
    return rows.flatMap((row) => {
      const [, resources = "", verbs = ""] = /^\| (.*?) \| (.*?) \|/.exec(row) ?? [];
      return rightsIn(resources, verbs);
    });
  }

  /** `a`, `b` (`group`) named `c` */
  function rightsIn(cell: string, verbs: string): readonly string[] {
    const [, resources = "", group = "", named = ""] =
      /^((?:`[^`]+`(?:, )?)+)(?: \(`([^`]+)`\))?(?: named `([^`]+)`)?$/.exec(cell) ?? [];
    return resources.split(", ").flatMap((quoted) => {
      const [resource = "", part] = quoted.replaceAll("`", "").split("/");
      const full = (group === "" ? resource : `${resource}.${group}`) + (part === undefined ? "" : `/${part}`);
      return verbs.split(", ").map((verb) => `${verb} ${full} ${named}`.trim());
    });
  }

  /** The output of `kubectl auth can-i --list` for an account, as `verb resource name`. */
  async function allowed(account: string, place: string): Promise<readonly string[]> {
    const table = await kubectl("auth", "can-i", "--list", `--as=${account}`, `--namespace=${place}`);
    const [head = "", ...rows] = table.trimEnd().split("\n");
    const starts = ["Non-Resource URLs", "Resource Names", "Verbs"].map((title) => head.indexOf(title));
    const [urls = 0, resourceNames = 0, verbs = 0] = starts;
    const listed = (row: string, from: number, to?: number) =>
      row
        .slice(from, to)
        .trim()
        .replace(/^\[|\]$/g, "");
    const found = rows.flatMap((row) => {
      const subjects = listed(row, 0, urls) || listed(row, urls, resourceNames);
      const only = listed(row, resourceNames, verbs).split(" ");
      return listed(row, verbs)
        .split(" ")
        .flatMap((verb) => only.map((one) => `${verb} ${subjects} ${one}`.trim()));
    });
    return [...new Set(found)].sort();
  }
});

test("from inside its pod the platform reads no Secret but its own and those of environments", async () => {
  const secret = await podSecretName(name);
  const requested = {
    everywhere: "/api/v1/secrets",
    "kube-system": "/api/v1/namespaces/kube-system/secrets",
    "the deployer's": `/api/v1/namespaces/${names.deployerNamespace}/secrets`,
    "the release's": `/api/v1/namespaces/${namespace}/secrets`,
    "all of others": `/api/v1/namespaces/${foreign}/secrets`,
    "one of others": `/api/v1/namespaces/${foreign}/secrets/treasure`,
    "the secret manager's": `/api/v1/namespaces/${names.secretStoreNamespace}/secrets`,
    "an environment's": `/api/v1/namespaces/env-${name}/secrets/${secret}`,
  };
  const statuses = await fromInside(Object.values(requested));
  expect(Object.fromEntries(Object.keys(requested).map((what, index) => [what, statuses[index]]))).toEqual({
    everywhere: 403,
    "kube-system": 403,
    "the deployer's": 403,
    "the release's": 403,
    "all of others": 403,
    "one of others": 403,
    "the secret manager's": 200,
    "an environment's": 200,
  });
});

/** Statuses of requests with the pod's own token, by the image's Node: it has no shell. */
async function fromInside(paths: readonly string[]): Promise<readonly number[]> {
  const script = `
    const { readFileSync } = require("fs");
    const folder = "/var/run/secrets/kubernetes.io/serviceaccount/";
    const [token, ca] = ["token", "ca.crt"].map((name) => readFileSync(folder + name, "utf8"));
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
    const ask = (path) => new Promise((resolve, reject) => {
      const options = { host, port, path, ca, headers: { authorization: "Bearer " + token } };
      require("https").get(options, (reply) => resolve(reply.resume().statusCode)).once("error", reject);
    });
    Promise.all(process.argv.slice(1).map(ask)).then((all) => console.log(JSON.stringify(all)));`;
  const [{ metadata } = { metadata: { name: "" } }] = await replicas();
  const pod = [metadata.name, `--namespace=${namespace}`, "--container=platform"];
  return JSON.parse(await execInPod(...pod, "--", "/usr/bin/node", "-e", script, ...paths)) as number[];
}
