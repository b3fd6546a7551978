import { at, integer, text } from "./payload.ts";

/** True for two objects of one repository: by id, else by name. */
export function isSameRepository(one: unknown, other: unknown): boolean {
  const ids = [integer(at(one, "id")), integer(at(other, "id"))];
  if (!ids.includes(undefined)) return ids[0] === ids[1];
  const [name, otherName] = [one, other].map((repository) => text(at(repository, "full_name")).toLowerCase());
  return name !== "" && name === otherName;
}
