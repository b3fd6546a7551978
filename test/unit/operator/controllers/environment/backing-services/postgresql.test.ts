import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Sensitive } from "../../../../../../crds/sensitive.ts";
import { postgresql } from "../../../../../../operator/controllers/environment/backing-services/postgresql.ts";

function databaseUrl(password: string): Sensitive {
  const [variable] = postgresql.derived;
  expect(variable).toMatchObject({ name: "DATABASE_URL", of: "DATABASE_PASSWORD" });
  return variable?.value(new Sensitive(password)) as Sensitive;
}

test("the database's URL names its role, its Service and itself, and is as secret as the password", () => {
  const url = databaseUrl("pass");
  expect(url.reveal()).toBe("postgresql://app:pass@database:5432/app");
  expect(`${url}`).toBe("***");
});

test("any password can be read back from the URL, and the rest of the URL stays the same", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (password) => {
      const url = new URL(databaseUrl(password).reveal());
      expect(decodeURIComponent(url.password)).toBe(password);
      expect(url).toMatchObject({ protocol: "postgresql:", username: "app", host: "database:5432", pathname: "/app" });
    }),
  );
});
