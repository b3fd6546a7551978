import { describe, expect, test } from "@jest/globals";
import type { ComponentSelectors } from "../../../../../crds/environment/component-selectors.ts";
import { chosenPods, type Labelled } from "../../../../../operator/adapters/kubernetes/component-pods.ts";

type Labels = Readonly<Record<string, string>>;

const OWN = "ephemeral-environments.dev/component";
const COMPONENT = "app.kubernetes.io/component";
const NAME = "app.kubernetes.io/name";

/** The pods of each component by their index, with an exclamation mark where no label says so. */
function chosen(pods: readonly Labels[], selectors: ComponentSelectors): Record<string, string> {
  const all: readonly Labelled[] = pods.map((labels) => ({ metadata: { labels } }));
  const { of, componentOf } = chosenPods(all, { selectors, services: ["database"] });
  const places = (component: string) => {
    const own = of(component);
    const isGuess = own.some((pod) => componentOf(pod)?.name === component && !componentOf(pod)?.isLabelled);
    return own.map((pod) => all.indexOf(pod)).join(" ") + (isGuess ? "!" : "");
  };
  return Object.fromEntries([...Object.keys(selectors), "database"].map((one) => [one, places(one)]));
}

const one: ComponentSelectors = { backend: {} };
const both: ComponentSelectors = { backend: {}, frontend: {} };

describe("the pods of a component", () => {
  test.each<{ name: string; pods: readonly Labels[]; selectors?: ComponentSelectors; expected: object }>([
    { name: "are none where there are none", pods: [], expected: { backend: "", database: "" } },
    {
      name: "are those that the platform's label says, whatever the others say",
      pods: [{ [OWN]: "backend", [COMPONENT]: "server" }, { [COMPONENT]: "backend" }, { [NAME]: "backend" }],
      expected: { backend: "0", database: "" },
    },
    {
      name: "are those that the component label says, where none has the platform's",
      pods: [{ [COMPONENT]: "backend" }, { [NAME]: "backend" }, { [COMPONENT]: "worker" }],
      expected: { backend: "0", database: "" },
    },
    {
      name: "are those of that name, where no other label says it",
      pods: [{ [COMPONENT]: "server", [NAME]: "backend" }, { [NAME]: "app" }],
      expected: { backend: "0", database: "" },
    },
    {
      name: "are all, where no label says it: what helm create writes",
      pods: [{ [NAME]: "app", "app.kubernetes.io/instance": "env-shop" }, {}, { [COMPONENT]: "worker" }],
      expected: { backend: "0 1 2!", database: "" },
    },
    {
      name: "are never those of a backing service, also where there are no others",
      pods: [{ [COMPONENT]: "database" }],
      expected: { backend: "", database: "0" },
    },
    {
      name: "are all but those of the other component",
      pods: [{ [COMPONENT]: "frontend" }, { [NAME]: "api" }, { [COMPONENT]: "database" }],
      selectors: both,
      expected: { backend: "1!", frontend: "0", database: "2" },
    },
    {
      name: "are all, of one that is called like a component that the environment has not",
      pods: [{ [NAME]: "frontend" }],
      expected: { backend: "0!", database: "" },
    },
    {
      name: "are all of both, where no label says anything",
      pods: [{}, {}],
      selectors: both,
      expected: { backend: "0 1!", frontend: "0 1", database: "" },
    },
    {
      name: "are those with all labels of its selector, whatever other labels say",
      pods: [{ app: "api", tier: "web" }, { app: "api" }, { [OWN]: "backend" }],
      selectors: { backend: { labels: { app: "api", tier: "web" } } },
      expected: { backend: "0", database: "" },
    },
    {
      name: "are none where its selector fits none: a mistake is not covered up by others' pods",
      pods: [{ app: "api" }, { [COMPONENT]: "backend" }],
      selectors: { backend: { labels: { app: "apy" } } },
      expected: { backend: "", database: "" },
    },
    {
      name: "leave what a selector of the other one fits",
      pods: [{ app: "web" }, { app: "api" }],
      selectors: { backend: {}, frontend: { labels: { app: "web" } } },
      expected: { backend: "1!", frontend: "0", database: "" },
    },
    {
      name: "are those of two selectors that fit the same pod",
      pods: [{ app: "all" }],
      selectors: { backend: { labels: { app: "all" } }, frontend: { labels: { app: "all" } } },
      expected: { backend: "0", frontend: "0", database: "" },
    },
  ])("$name", ({ pods, selectors = one, expected }) => {
    expect(chosen(pods, selectors)).toEqual(expected);
  });

  test("are not found by what every object has", () => {
    expect(chosen([{ app: "api" }], { backend: { labels: { constructor: "Object" } } })).toMatchObject({ backend: "" });
    expect(chosenPods([{}], { selectors: one, services: [] }).of("toString")).toEqual([]);
  });
});
