import { checkoutFiles, reportFindings } from "./checkout.ts";

/**
 * First words that leave open which thing a docstring describes. After, Before, From, Since and Until may begin the time
 * of a value.
 */
const VAGUE =
  /^(What|Whether|Where|How|Why|When|Which|Who|Whose|Whoever|Nobody|Somebody|It|Its|They|Their|Them|He|She|This|That|These|Those|Such|So|In|On|For|With|Without|By|To|At|Of|As|Also|Per|Over|Below|Beyond|Within|About|Through|During|Between|While|Like)$/;
const DOCSTRING = /\/\*\*\s+(?:\* +)?([A-Za-z-]+)/g;

// Docstrings of *.gen.ts are descriptions of the OpenAPI document.
const files = checkoutFiles(/(?<!\.gen)\.(ts|tsx|mjs)$/, ...process.argv.slice(2));
const findings = files.flatMap(({ path, text }) =>
  [...text.matchAll(DOCSTRING)]
    .filter(([, word = ""]) => VAGUE.test(word))
    .map(({ index, 1: word }) => `${path}:${text.slice(0, index).split("\n").length}: begins with "${word}"`),
);
reportFindings(findings, "a docstring begins with the thing that it describes, or with a verb");
