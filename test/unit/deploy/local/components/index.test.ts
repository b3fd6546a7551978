import { describe, expect, test } from "@jest/globals";
import { bareComponents, components } from "../../../../../deploy/local/components/index.ts";
import { inOrder } from "../../../../../deploy/local/start-order.ts";

describe.each([
  { name: "the local cluster", list: components },
  { name: "the local cluster without the platform", list: bareComponents },
])("the components of $name", ({ list }) => {
  const unbuilt = list.filter(({ needsBuild }) => needsBuild === false);

  test("have an order", () => {
    expect(inOrder(list)).toHaveLength(list.length);
  });

  test("are its network, git server and identity provider before anything is built", () => {
    expect(
      inOrder(unbuilt)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["git server", "identity provider", "network"]);
  });
});
