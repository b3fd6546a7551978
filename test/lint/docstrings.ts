import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** First words that do not name the subject of a docstring. */
const VAGUE =
  /^(What|Whether|Where|How|Why|When|Which|Who|Whose|Whoever|Nobody|Somebody|It|Its|They|Their|Them|He|She|This|That|These|Those|Such|So)$/;
const DOCSTRING = /\/\*\*\s+(?:\* +)?([A-Za-z]+)/g;
/** Generated from the OpenAPI document's descriptions. */
const GENERATED = /\.gen\.ts$/;

const folders = process.argv.slice(2);
const files = execFileSync("git", ["ls-files", "--", ...folders], { encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !GENERATED.test(file));
const found = files.flatMap((file) => {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(DOCSTRING)]
    .filter(([, word = ""]) => VAGUE.test(word))
    .map(({ index, 1: word }) => `${file}:${text.slice(0, index).split("\n").length}: begins with "${word}"`);
});
for (const line of found) console.log(line);
if (found.length > 0) {
  console.log(
    `${found.length} docstrings begin with a question word or a pronoun: begin with the thing, or with a verb.`,
  );
  process.exitCode = 1;
}
