import { describe, expect, test } from "@jest/globals";
import { drift } from "../../../../../operator/adapters/kubernetes/drift.ts";
import type { WireObject } from "../../../../../operator/kit/client/kinds.ts";

const meta = { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" };
const found = (fields: object = {}, metadata: object = {}) =>
  ({
    apiVersion: "v1",
    kind: "K",
    spec: { a: 1, list: [1, 2] },
    metadata: { ...meta, ...metadata },
    ...fields,
  }) as WireObject;
const wanted = (metadata: object = {}, fields: object = { spec: { a: 1, list: [1, 2] } }) => ({
  apiVersion: "v1",
  kind: "K",
  metadata: { name: "a", ...metadata },
  ...fields,
});

describe("drift", () => {
  test.each([
    ["nothing", wanted(), found(), []],
    [
      "what others added beside it",
      wanted({ labels: { a: "1" } }),
      found({ status: {} }, { labels: { a: "1", b: "2" }, annotations: { c: "3" }, finalizers: ["x"] }),
      [],
    ],
    [
      "a changed field: the whole of it is replaced",
      wanted(),
      found({ spec: { a: 2, list: [1, 2] } }),
      [{ op: "add", path: "/spec", value: { a: 1, list: [1, 2] } }],
    ],
    [
      "an addition inside a field",
      wanted(),
      found({ spec: { a: 1, list: [1, 2, 3] } }),
      [{ op: "add", path: "/spec", value: { a: 1, list: [1, 2] } }],
    ],
    ["what can't be changed any more", wanted({ labels: { a: "1" } }), found({ immutable: true, spec: { a: 2 } }), []],
    [
      "a missing field",
      wanted(),
      found({ spec: undefined }),
      [{ op: "add", path: "/spec", value: { a: 1, list: [1, 2] } }],
    ],
    [
      "a changed label, its key escaped",
      wanted({ labels: { "a/b~c": "1" } }),
      found({}, { labels: { "a/b~c": "2" } }),
      [{ op: "add", path: "/metadata/labels/a~1b~0c", value: "1" }],
    ],
    [
      "labels where there were none",
      wanted({ labels: { a: "1" } }),
      found(),
      [
        { op: "add", path: "/metadata/labels", value: {} },
        { op: "add", path: "/metadata/labels/a", value: "1" },
      ],
    ],
    [
      "a missing finalizer beside another's",
      wanted({ finalizers: ["ours"] }),
      found({}, { finalizers: ["theirs"] }),
      [{ op: "add", path: "/metadata/finalizers", value: ["theirs", "ours"] }],
    ],
  ])("%s", (_what, desired, existing, operations) => {
    expect(drift(desired as never, existing)).toEqual(operations);
  });
});
