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
const desired = (metadata: object = {}, fields: object = { spec: { a: 1, list: [1, 2] } }) => ({
  apiVersion: "v1",
  kind: "K",
  metadata: { name: "a", ...metadata },
  ...fields,
});

describe("drift", () => {
  test.each([
    ["nothing", desired(), found(), []],
    [
      "what others added beside it",
      desired({ labels: { a: "1" } }),
      found({ status: {} }, { labels: { a: "1", b: "2" }, annotations: { c: "3" }, finalizers: ["x"] }),
      [],
    ],
    [
      "a changed field: the whole of it is replaced",
      desired(),
      found({ spec: { a: 2, list: [1, 2] } }),
      [{ op: "add", path: "/spec", value: { a: 1, list: [1, 2] } }],
    ],
    [
      "an addition inside a field",
      desired(),
      found({ spec: { a: 1, list: [1, 2, 3] } }),
      [{ op: "add", path: "/spec", value: { a: 1, list: [1, 2] } }],
    ],
    ["what can't be changed any more", desired({ labels: { a: "1" } }), found({ immutable: true, spec: { a: 2 } }), []],
    [
      "a missing field",
      desired(),
      found({ spec: undefined }),
      [{ op: "add", path: "/spec", value: { a: 1, list: [1, 2] } }],
    ],
    [
      "a changed label, its key escaped",
      desired({ labels: { "a/b~c": "1" } }),
      found({}, { labels: { "a/b~c": "2" } }),
      [{ op: "add", path: "/metadata/labels/a~1b~0c", value: "1" }],
    ],
    [
      "labels where there were none",
      desired({ labels: { a: "1" } }),
      found(),
      [
        { op: "add", path: "/metadata/labels", value: {} },
        { op: "add", path: "/metadata/labels/a", value: "1" },
      ],
    ],
    [
      "a missing finalizer beside another's",
      desired({ finalizers: ["ours"] }),
      found({}, { finalizers: ["theirs"] }),
      [{ op: "add", path: "/metadata/finalizers", value: ["theirs", "ours"] }],
    ],
  ])("%s", (_what, desired, existing, operations) => {
    expect(drift(desired as never, existing)).toEqual(operations);
  });
});
