import { describe, expect, test } from "@jest/globals";
import { confirmContext } from "../../../../../deploy/local/existing/context.ts";

const context = { name: "staging", cluster: { server: "https://staging.example.com" } };

describe("the cluster of the current context", () => {
  test.each([
    { name: "is taken when its name is typed", typed: "staging\n", says: undefined },
    { name: "is left alone when another name is typed", typed: "dev", says: 'Nothing was done: "dev" is not the name' },
    { name: "is left alone when nothing is typed", typed: "", says: "Nothing was done" },
    { name: "is left alone after a mere yes", typed: "yes", says: "Nothing was done" },
  ])("$name", async ({ typed, says }) => {
    const requested: string[] = [];
    const ask = async (question: string) => {
      requested.push(question);
      return typed;
    };
    const confirmed = confirmContext(context, { yes: false, ask }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(await confirmed).toEqual(says && expect.stringContaining(says));
    expect(requested).toEqual([expect.stringMatching(/"staging" \(https:\/\/staging\.example\.com\)/)]);
  });

  test("is taken unasked when it was confirmed with the command", async () => {
    const ask = () => Promise.reject(new Error("asked"));
    await expect(confirmContext(context, { yes: true, ask })).resolves.toBeUndefined();
  });

  test("is left alone, with the next step, without a terminal", async () => {
    await expect(confirmContext(context, { yes: false })).rejects.toThrow(
      /"staging" \(https.*confirm with YES=1 make up/,
    );
  });
});
