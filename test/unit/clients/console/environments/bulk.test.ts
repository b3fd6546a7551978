import { describe, expect, test } from "@jest/globals";
import { doneText, refusedText, toEach } from "../../../../../clients/console/environments/bulk.ts";

const targets = Array.from({ length: 9 }, (_, index) => ({ id: `id-${index}`, name: `env-${index}` }));

describe("an action on several environments", () => {
  test("goes on after one that is refused, and says which", async () => {
    const result = await toEach(targets.slice(0, 3), async ({ name }) => {
      if (name === "env-1") throw new Error("The environment is protected");
    });
    expect(result.done.toSorted()).toEqual(["env-0", "env-2"]);
    expect(doneText(result, "being deleted")).toBe("2 environments are being deleted");
    expect(refusedText(result)).toBe("env-1: The environment is protected");
  });

  test("is sent once to each, and to a few at a time", async () => {
    let underWay = 0;
    let most = 0;
    const seen: string[] = [];
    await toEach(targets, async ({ id }) => {
      seen.push(id);
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
    });
    expect(seen.toSorted()).toEqual(targets.map(({ id }) => id));
    expect(most).toBeLessThanOrEqual(4);
  });

  test("names the only one", () => {
    expect(doneText({ done: ["shop"], refused: [] }, "protected")).toBe("shop is protected");
  });
});
