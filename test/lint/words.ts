import { checkoutFiles, reportFindings } from "./checkout.ts";

/** Private words of former days, each with the field's word that stands for it now. */
const RETIRED: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\b(door|doors|Door|Doors|DOORS)\b/, "source, endpoint"],
  [/\b(ofMeaning|meaningParts|BY_MEANING)\b/, "deduplicationKey"],
  [/\b(toldOf|tellGone|TellGone|Teller|Telling)\b/, "report"],
  [/\b(lane|lanes|Lanes|LANES|laneOf)\b/, "KeyedMutex, serialKey"],
  [/\b(questionsOf|inquire|inquiry|Inquiry|rivals|rivalsOf|atHand)\b/i, "refetch, stale state"],
  [/\bnamesakes?(Of)?\b/i, "existing, of the same name"],
  [/\b(HookDoctor|hookDoctor|groundOf|GroundContext)\b/, "WebhookRegistrar, prerequisites"],
  [/\b(SettleContext|SettleOptions)\b/, "ProcessingContext"],
  [/\b([sS]eams?|[A-Z]\w*Seam)\b/, "interceptor"],
  [/\b[fF]oundations\b/, "dependencies"],
  [/\b(expiry|sweep)\.breaker\b/, "deletionBudget"],
];

const findings = checkoutFiles(/\.(ts|tsx|mjs|yaml|tpl)$/, ...process.argv.slice(2))
  .filter(({ path }) => path !== "test/lint/words.ts")
  .flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) =>
        RETIRED.filter(([word]) => word.test(line)).map(
          ([, instead]) => `${path}:${index + 1}: ${line.trim()} (say: ${instead})`,
        ),
      ),
  );
reportFindings(findings, "these words are retired");
