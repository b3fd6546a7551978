import Mustache from "mustache";
import type { MessageTemplate } from "../../../config/notifications.schema.ts";
import type { Facts, MessageEvent, NotificationSpec } from "../../../crds/notifications/notification.ts";
import { chatFacts, mailFacts, oneLine } from "./escaping.ts";

type Texts = Required<Omit<MessageTemplate, "id">>;

/** Limit of a chat (https://docs.slack.dev/changelog/2018-truncating-really-long-messages); mail programs show more. */
const MAX_CHAT_CHARS = 4_000;
const MAX_SUBJECT_CHARS = 200;
const SIGNATURE = "\n\nSent by the Ephemeral Environment Platform.\n";
const ADDRESSES = "{{url}}{{#hostUrls}}, {{hostUrls}}{{/hostUrls}}";
const CODE = "{{repository}} {{branch}}{{#commit}} at {{commit}}{{/commit}}";

const texts = (chat: string, subject: string, text: string): Texts => ({ chat, subject, text: text + SIGNATURE });
const same = (sentence: string, subject: string) => texts(sentence, subject, sentence.replaceAll("*", ""));

const BUILT_IN: Readonly<Record<MessageEvent, Texts>> = {
  created: same(`*{{environment}}* is being created: ${CODE}`, "{{environment}} is being created"),
  ready: same(`*{{environment}}* is ready: ${ADDRESSES} (${CODE})`, "{{environment}} is ready"),
  updated: same(`*{{environment}}* is updated: ${ADDRESSES} (${CODE})`, "{{environment}} is updated"),
  failed: same(`*{{environment}}* failed: {{reason}}: {{message}} (${CODE})`, "{{environment}} failed"),
  deleted: same("*{{environment}}* is deleted{{#reason}} ({{reason}}){{/reason}}", "{{environment}} is deleted"),
  pipeline: same(
    "Pipeline of *{{project}}* at {{commit}}: {{status}}{{#image}}, image {{image}}{{/image}}{{#pipelineUrl}} {{pipelineUrl}}{{/pipelineUrl}}",
    "Pipeline of {{project}}: {{status}}",
  ),
  expiry: texts(
    "*{{environment}}* expires at {{expiresAt}}",
    "{{environment}} expires at {{expiresAt}}",
    "Your environment {{environment}} expires at {{expiresAt}}, and everything in it is deleted then.\n\n{{url}}\n{{#extendUrl}}\nTo extend it once, open this link and confirm. Anybody who has the link can do so:\n{{extendUrl}}\n{{/extendUrl}}",
  ),
  webhook: same(
    "Webhooks of *{{repository}}* may not arrive: {{reason}}: {{message}}",
    "Webhooks of {{repository}} may not arrive",
  ),
  unverified: same("Unverified: {{status}} {{environment}} {{message}}", "Unverified: {{status}} {{environment}}"),
};

/**
 * Renders the messages of an installation.
 *
 * @param configured templates of the settings; the event's built-in one fills gaps
 */
export function messageTexts(configured: readonly MessageTemplate[]) {
  const textsOf = ({ template, event }: NotificationSpec): Texts => ({
    ...BUILT_IN[event],
    ...configured.find(({ id }) => id === template),
  });
  return {
    /** Text in chat markup. */
    chat(spec: NotificationSpec): string {
      return render(textsOf(spec).chat, chatFacts(spec.facts)).slice(0, MAX_CHAT_CHARS);
    },
    /** @param extendUrl link that extends the environment, if possible */
    mail(spec: NotificationSpec, extendUrl?: string): { subject: string; text: string } {
      const { subject, text } = textsOf(spec);
      const facts = { ...mailFacts(spec.facts), ...(extendUrl === undefined ? {} : { extendUrl }) };
      return { subject: oneLine(render(subject, facts)).slice(0, MAX_SUBJECT_CHARS), text: render(text, facts) };
    },
  };
}

/** Facts are already escaped, for every spelling of a name; without a prototype `constructor` is no name. */
function render(template: string, facts: Facts): string {
  return Mustache.render(template, Object.assign(Object.create(null), facts), {}, { escape: (text) => text });
}
