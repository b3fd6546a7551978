import { describe, expect, test } from "@jest/globals";
import { passwordIn } from "../../../../../deploy/local/git/gitea.ts";

describe("the password that Gitea chooses", () => {
  test.each(["oIZkq3x8", "it's 'quoted'"])("is read whole: %s", (password) => {
    const output = `a line of its log\ngenerated random password is '${password}'\nNew user 'local-admin' has been successfully created!\n`;
    expect(passwordIn(output)).toBe(password);
  });

  test("is an error when it is missing", () => {
    expect(() => passwordIn("New user 'local-admin' has been successfully created!\n")).toThrow("did not say");
  });
});
