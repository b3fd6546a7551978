/** Facts come from users, hosts and pipelines: in a chat they must stay plain text. */
import type { Fact, Facts } from "../../../crds/notifications/notification.ts";

const URLS: readonly Fact[] = ["url", "backendUrl", "frontendUrl", "pipelineUrl"];

/** Invisible character that breaks mentions and markup. */
const ZERO_WIDTH_SPACE = "\u200B";
/** Mentions, links, and markup of bold, struck or code text, even within a word. */
const MARKUP = /[@*~`[\]]/g;
/** Marks italic text only at the edge of a word: `shop_api` stays. */
const EDGE_UNDERSCORE = /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
/** Line breaks, and characters that change how others are read. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** One line without invisible characters. */
export function oneLine(text: string): string {
  return text.replaceAll(INVISIBLE, " ").trim();
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
function entities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function chatText(text: string): string {
  const inert = oneLine(text)
    .replaceAll(MARKUP, `$&${ZERO_WIDTH_SPACE}`)
    .replaceAll(EDGE_UNDERSCORE, `$&${ZERO_WIDTH_SPACE}`);
  return entities(inert);
}

/** A clickable link; other text stays text. */
function chatUrl(text: string): string {
  if (!URL.canParse(text)) return chatText(text);
  const { protocol, href } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return chatText(text);
  return entities(
    href.replaceAll(/[@*`[\]|()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`),
  );
}

/** Facts escaped for a chat. */
export function chatFacts(facts: Facts): Facts {
  const escaped = Object.entries(facts).map(([name, text]) => [
    name,
    URLS.includes(name as Fact) ? chatUrl(text) : chatText(text),
  ]);
  return Object.fromEntries(escaped);
}

/** Facts escaped for a plain-text e-mail. */
export function mailFacts(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).map(([name, text]) => [name, oneLine(text)]));
}
