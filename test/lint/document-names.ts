import { checkoutFiles, checkoutPaths, reportFindings } from "./checkout.ts";

/** A path from the root, without placeholders. */
const PATH = /^(api|clients|config|crds|deploy|docs|e2e|operator|test)\/[\w./@-]+$/;
/** A name of code, alone or as `one.other`; what is all lower case may be any word. */
const NAME = /^[A-Za-z]\w*(\.[A-Za-z]\w*)*(\(\))?$/;
const IN_TWO_CASES = /[a-z][A-Z]|^[A-Z][a-z]+[A-Z]/;
/** Names of other projects, which our sources do not say. */
const FOREIGN = new Set(["IndexOf", "SecretMasker", "ValueEncoders", "enableOCI", "stopOnError"]);

const documents = checkoutFiles(/\.md$/, "CONTRIBUTING.md", "docs/adr");
const paths = new Set(
  checkoutPaths().flatMap((path) => path.split("/").map((_, end, parts) => parts.slice(0, end + 1).join("/"))),
);
const sources = checkoutFiles(/\.(ts|tsx|mjs|json|yaml|tpl|go)$|Makefile$|^docs\/[^/]+\.md$/);
const words = new Set([...paths, ...sources.map(({ text }) => text)].flatMap((text) => text.match(/\w+/g) ?? []));

const isKnown = (name: string) => !IN_TWO_CASES.test(name) || words.has(name) || FOREIGN.has(name);
const isThere = (quoted: string) => {
  if (PATH.test(quoted)) return paths.has(quoted.replace(/\/$/, ""));
  return !NAME.test(quoted) || (quoted.match(/\w+/g) ?? []).every(isKnown);
};
const findings = documents.flatMap(({ path, text }) =>
  text.split("\n").flatMap((line, index) =>
    [...line.matchAll(/`([^`]+)`/g)]
      .map(([, quoted = ""]) => quoted)
      .filter((quoted) => !isThere(quoted))
      .map((quoted) => `${path}:${index + 1}: there is no ${quoted}`),
  ),
);
reportFindings(findings, "CONTRIBUTING.md and docs/adr name what exists");

/** Every decision is listed once, with its title, and sorted by number below its subject. */
const index = documents.find(({ path }) => path === "docs/adr/README.md")?.text ?? "";
const subjects = index.split(/^## .*$/m).map((text) => [...text.matchAll(/^- \[(.+)\]\((.+)\)$/gm)]);
const listed = subjects.flat().map(([, title = "", file = ""]) => ({ title, file }));
const decisions = documents.filter(({ path }) => /^docs\/adr\/\d/.test(path));
const misplaced = decisions.flatMap(({ path, text }) => {
  const title = /^# (.+)$/m.exec(text)?.[1];
  const entries = listed.filter(({ file }) => `docs/adr/${file}` === path);
  return entries.length === 1 && entries[0]?.title === title ? [] : [`${path}: listed ${entries.length} times`];
});
const unsorted = subjects
  .map((entries) => entries.map(([, , file = ""]) => file))
  .filter((files) => files.some((file, at) => at > 0 && file < (files[at - 1] ?? "")));
const missing = listed.filter(({ file }) => !paths.has(`docs/adr/${file}`)).map(({ file }) => `there is no ${file}`);
reportFindings(
  [...misplaced, ...missing, ...unsorted.map((files) => `not sorted: ${files.join(", ")}`)],
  "docs/adr/README.md lists each decision once, by subject and number, with its title",
);
