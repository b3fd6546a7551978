import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { databaseUrl } from "../../../../../operator/environment/desired/database.ts";

test("a database's URL names its role, its Service and itself, and is as secret as the password", () => {
  const url = databaseUrl(new Sensitive("pass"));
  expect(url.reveal()).toBe("postgresql://app:pass@database:5432/app");
  expect(`${url}`).toBe("***");
});

test("whatever the password is, it can be read back from the URL, and the rest stays what it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (password) => {
      const url = new URL(databaseUrl(new Sensitive(password)).reveal());
      expect(decodeURIComponent(url.password)).toBe(password);
      expect(url).toMatchObject({ protocol: "postgresql:", username: "app", host: "database:5432", pathname: "/app" });
    }),
  );
});
