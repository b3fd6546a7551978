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
