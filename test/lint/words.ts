import { checkoutFiles, reportFindings } from "./checkout.ts";

/** Private words of former days, each with the field's word that stands for it now. */
const RETIRED: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\b(door|doors|Door|Doors|DOORS)\b/, "source, endpoint"],
  [/\b(ofMeaning|meaningParts|BY_MEANING)\b/, "deduplicationKey"],
  [/\b(toldOf|tellGone|TellGone|Teller|Telling)\b/, "report"],
  [/\b(lane|lanes|Lanes|LANES|laneOf)\b/, "KeyedMutex, serialKey"],
  [/\b(questionsOf|inquire|inquiry|Inquiry|rivals|rivalsOf|atHand)\b/i, "refetch, stale state"],
  [/\bnamesakes?(Of)?\b/i, "existing, of the same name"],
  [/\b(groundOf|GroundContext)\b/, "prerequisites"],
  [/doctor/i, "WebhookRegistrar, check"],
  [/\bexamin(e|es|ed|ation)\b/i, "check"],
  [/\b(SettleContext|SettleOptions)\b/, "ProcessingContext"],
  [/\b[fF]oundations\b/, "dependencies"],
  [/\b(expiry|sweep)\.breaker\b/, "deletionBudget"],
  // The user `nobody` of Unix, and addresses of no account.
  [/(?<![`:])\b(nobody|somebody|whoever)\b(?![@-])/i, "name the subject"],
  [/\b([sS]eams?|[a-z]+Seam|[A-Z]\w*Seam)\b/, "interceptor"],
  [/vouch/i, "assert, assertedClaims"],
  [/\b[fF]acade\b/, "api"],
];

/** The same, where they are no words of a text for people. */
const RETIRED_IN_CODE: typeof RETIRED = [
  [/\b(asked|[a-z]\w*Asked|Asked)([A-Z]\w*)?\b|\b(\w+_)?(ASKED|asked)(_\w+)?\b/, "requested"],
  [/wanted/i, "desired, requested, isIncluded"],
  [/\bconcerns\b/, "target"],
  [/\b(news|newsIn\w*|isNews)\b/, "nextAnnouncement, isChanged"],
  [/\bconclude([sd]|[A-Z]\w*)?\b/, "reportDeleted"],
];
/** The same, in code and in comments. */
const RETIRED_OUTSIDE_TEXTS: typeof RETIRED = [[/\b(told|Told|[a-z]+Told|told[A-Z]\w*)\b/, "report, reported, status"]];

/** A text in quotes, a template, or a pattern. */
const TEXT = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?![/*])(?:[^/\\]|\\.)+\/[a-z]*(?=[),;.])/g;
const EXPRESSION = /\$\{[^}]*\}/g;
const COMMENT = /(\/\/|^\s*\/?\*|\{?\/\*).*/;
const isCode = (path: string) => /\.(ts|tsx|mjs)$/.test(path);
const withoutTexts = (line: string) => (/^\s*(\/\/|\/?\*)/.test(line) ? line : line.replaceAll(TEXT, expressionsOf));
const expressionsOf = (text: string) => (text.startsWith("`") ? (text.match(EXPRESSION) ?? []) : []).join(" ");

function retiredIn(path: string, line: string) {
  const outside = isCode(path) ? withoutTexts(line) : line;
  // Texts of pages stand in JSX without quotes.
  const code = path.endsWith(".tsx") || !isCode(path) ? "" : outside.replace(COMMENT, "");
  return [
    ...RETIRED.filter(([word]) => word.test(line)),
    ...RETIRED_OUTSIDE_TEXTS.filter(([word]) => word.test(outside)),
    ...RETIRED_IN_CODE.filter(([word]) => word.test(code)),
  ];
}

const findings = checkoutFiles(/\.(ts|tsx|mjs|yaml|tpl)$/, ...process.argv.slice(2))
  .filter(({ path }) => !path.startsWith("test/lint/"))
  .flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) =>
        retiredIn(path, line).map(([, instead]) => `${path}:${index + 1}: ${line.trim()} (say: ${instead})`),
      ),
  );
reportFindings(findings, "these words are retired");
