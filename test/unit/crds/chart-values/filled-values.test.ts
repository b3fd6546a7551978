import { describe, expect, test } from "@jest/globals";
import { filledValues, isOfPlatform, mergedTemplates } from "../../../../crds/chart-values/filled-values.ts";
import { type MapTemplate, readValues } from "../../../../crds/chart-values/mapping.ts";
import { type ComponentFacts, REFERENCES } from "../../../../crds/chart-values/references.ts";
import { asleep, facts } from "./facts.ts";

function read(yaml: string): MapTemplate {
  const template = readValues(yaml);
  if ("problem" in template) throw new Error(template.problem);
  return template;
}
const filled = (yaml: string, about = facts) => filledValues(read(yaml), about).values;

/** The value of every reference: in the environment of the facts, and in the suspended one. */
const EXPECTED: { readonly [written: string]: readonly [awake: unknown, asleep: unknown] } = {
  "environment.name": ["shop", "shop"],
  "environment.uid": [facts.environment.uid, facts.environment.uid],
  "backend.image": ["registry.test:5000/shop/api:0a1b2c3", "registry.test:5000/shop/api:0a1b2c3"],
  "backend.image.repository": ["registry.test:5000/shop/api", "registry.test:5000/shop/api"],
  "backend.image.tag": ["0a1b2c3", "0a1b2c3"],
  "backend.pullPolicy": ["IfNotPresent", "IfNotPresent"],
  "backend.commit": ["0a1b2c3", "0a1b2c3"],
  "backend.branch": ["feature/a", "feature/a"],
  "backend.host": ["shop--api.env.test", "shop--api.env.test"],
  "backend.url": ["https://shop--api.env.test", "https://shop--api.env.test"],
  "backend.port": [8080, 8080],
  "backend.env": [facts.components.backend?.env, []],
  "backend.envMap": [{ LEVEL: "info", TRACE: "1" }, {}],
  "backend.replicas": [2, 0],
  "backend.resources": [{ requests: { cpu: "1" } }, undefined],
  "hosts.<name>": ["shop--admin.env.test", undefined],
  "hosts.<name>.url": ["https://shop--admin.env.test", undefined],
  "secret.name": ["environment-secrets-0a1b2c3d", "environment-secrets-0a1b2c3d"],
  imagePullSecrets: [[{ name: "image-pull" }], undefined],
  "database.enabled": [true, false],
  "database.host": ["database", undefined],
  "database.user": ["app", undefined],
  "database.name": ["app", undefined],
  "ingress.className": ["internal", undefined],
  "ingress.annotations": [{ "example.test/tls": "true" }, {}],
  suspended: [false, true],
  "replicas.orZero(n)": [3, 0],
};
const written = (name: string) => name.replace("(n)", "(3)").replace("<name>", "admin");

describe("a reference alone", () => {
  test("has a row here, whichever it is", () => {
    const names = REFERENCES.map(({ name }) => name).filter((name) => !name.startsWith("frontend."));
    expect(names).toEqual(Object.keys(EXPECTED));
  });

  test.each(Object.entries(EXPECTED))("${%s} keeps its type, also asleep", (name, [awake, sleeping]) => {
    expect(filled(`a: \${${written(name)}}`)).toEqual(awake === undefined ? {} : { a: awake });
    expect(filled(`a: \${${written(name)}}`, asleep)).toEqual(sleeping === undefined ? {} : { a: sleeping });
  });

  test.each(REFERENCES)("$name is of the type that its row says", ({ name, type }) => {
    const [value] = EXPECTED[name.replace("frontend.", "backend.")] ?? [];
    const types: { readonly [type: string]: string } = { string: "text", object: "map" };
    const typeOf = Array.isArray(value) ? "list" : typeof value;
    expect(types[typeOf] ?? typeOf).toBe(type);
  });

  test.each(["docs", "constructor", "valueof"])("of a host '%s' that is not listed is left out", (name) => {
    const yaml = "a: ${hosts.NAME}\nb: ['${hosts.NAME.url}', '${hosts.admin}']".replaceAll("NAME", name);
    expect(filled(yaml)).toEqual({ b: ["shop--admin.env.test"] });
  });

  test("of a component that is not there is left out, of keys and of lists", () => {
    expect(filled("a: {b: '${frontend.port}', c: 1}\nd: ['${frontend.host}', '${backend.host}']")).toEqual({
      a: { c: 1 },
      d: ["shop--api.env.test"],
    });
  });
});

describe("a text", () => {
  test.each([
    ["has references in it", "x: https://${backend.host}:${backend.port}/a", "https://shop--api.env.test:8080/a"],
    ["has nothing where nothing is", "x: a-${frontend.host}-b", "a--b"],
    ["has a literal sign after two", "x: a $${backend.host} b", "a ${backend.host} b"],
    ["has literal signs after more", "x: $$${backend.host}", "$${backend.host}"],
    ["has other dollars as they are", "x: $5 $HOME $(pwd) a$", "$5 $HOME $(pwd) a$"],
    ["is never read again", "x: '{{ ${backend.branch} }}'", "{{ feature/a }}"],
    ["has one number as text where it is tagged", "x: !!str ${backend.port}", "8080"],
    ["that is tagged has nothing where nothing is", "x: !!str ${frontend.port}", ""],
    ["of several lines", "x: |\n  a: ${backend.port}\n  b\n", "a: 8080\nb\n"],
  ])("%s", (_, yaml, expected) => {
    expect(filled(yaml)).toEqual({ x: expected });
  });

  test("of a reference can't leave its place", () => {
    const value = 'x\nsecurityContext: {} "{{ .Values.a }}" ${secret.name} \\';
    const backend = { ...(facts.components.backend as ComponentFacts), branch: value };
    const about = { ...facts, components: { backend } };
    expect(filled("a: ${backend.branch}\nb: 'b ${backend.branch}'", about)).toEqual({ a: value, b: `b ${value}` });
  });
});

test("other values are as YAML has them", () => {
  const yaml = "a: 1\nb: 1.5\nc: true\nd: null\ne:\nf: [1, {g: x}]\nh: {}\n8080: i\n'j k': \"l\\nm\"";
  expect(filled(yaml)).toEqual({
    a: 1,
    b: 1.5,
    c: true,
    d: null,
    e: null,
    f: [1, { g: "x" }],
    h: {},
    "8080": "i",
    "j k": "l\nm",
  });
  expect(filled("")).toEqual({});
  expect(filled("# nothing")).toEqual({});
});

test("what references decide is kept apart: lists as a whole", () => {
  const template = read(
    "image: {tag: '${backend.image.tag}', pullPolicy: Always}\nhosts: [{host: '${backend.host}', paths: [/]}]\na: 1",
  );
  expect(filledValues(template, facts).ofPlatform).toEqual({
    image: { tag: "0a1b2c3" },
    hosts: [{ host: "shop--api.env.test", paths: ["/"] }],
  });
});

test.each([
  ["image.tag", true],
  ["image", true],
  ["image.tag.x", true],
  ["hosts", true],
  ["hosts.0.host", true],
  ["image.pullPolicy", false],
  ["a", false],
  ["other.b", false],
])("%s is decided by references: %s", (path, expected) => {
  const template = read("image: {tag: '${backend.image.tag}', pullPolicy: Always}\nhosts: ['${backend.host}']\na: 1");
  expect(isOfPlatform(template, path.split("."))).toBe(expected);
});

test("one template over another merges maps and replaces the rest", () => {
  const merged = mergedTemplates(read("a: {b: 1, c: [1]}\nd: {e: 1}"), read("a: {c: [2], f: '${suspended}'}\nd: 2"));
  expect(filledValues(merged, facts)).toEqual({
    values: { a: { b: 1, c: [2], f: false }, d: 2 },
    ofPlatform: { a: { f: false } },
  });
});
