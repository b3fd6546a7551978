import Mustache from "mustache";
import { FACTS, MESSAGE_EVENTS } from "../crds/notifications/notification.schema.ts";
import type { Settings } from "./settings.schema.ts";

const NAMES: readonly string[] = [...FACTS, "extendUrl"];
/** Tokens of Mustache that only name facts: text, a name, and sections; partials and other delimiters are refused. */
const PLAIN_TOKENS = ["text", "name", "&", "#", "^", "!"];

/** Problems of the messages' settings, each with its path. */
export function notificationProblems({ notifications }: Settings): string[] {
  const { chat, templates, email } = notifications;
  const channels = chat.webhooks.map(({ channel }) => channel);
  const unlisted = (["default", "unverifiedChannel"] as const).flatMap((field) => {
    const channel = chat[field];
    const isListed = channel === undefined || channels.includes(channel);
    return isListed ? [] : [`/notifications/chat/${field}: no webhook has the channel '${channel}'`];
  });
  const { user, passwordRef } = email?.smtp ?? {};
  const isHalf = (user === undefined) !== (passwordRef === undefined);
  return [
    ...repeated(channels, (at) => `/notifications/chat/webhooks/${at}/channel`),
    ...unlisted,
    ...(isHalf ? ["/notifications/email/smtp: user and passwordRef belong together"] : []),
    ...repeated(
      templates.map(({ id }) => id),
      (at) => `/notifications/templates/${at}/id`,
    ),
    ...templates.flatMap(templateProblems),
  ];
}

function repeated(names: readonly string[], pathOf: (at: number) => string): string[] {
  return names.flatMap((name, at) => (names.indexOf(name) < at ? [`${pathOf(at)}: '${name}' is named twice`] : []));
}

type Template = Settings["notifications"]["templates"][number];

function templateProblems(template: Template, at: number): string[] {
  const path = `/notifications/templates/${at}`;
  const isBuiltIn = (MESSAGE_EVENTS as readonly string[]).includes(template.id);
  const missing = !isBuiltIn && template.chat === undefined ? [`${path}: a template of its own needs a chat text`] : [];
  const wrong = (["chat", "subject", "text"] as const).flatMap((field) => {
    const problem = textProblem(template[field] ?? "");
    return problem === undefined ? [] : [`${path}/${field}: ${problem}`];
  });
  return [...missing, ...wrong];
}

/** A token of Mustache's parser: its type, its value, its place, and of a section its tokens. */
type Token = readonly [type: string, value: string, start: number, end: number, inner?: readonly Token[]];

function textProblem(text: string): string | undefined {
  let tokens: readonly Token[];
  try {
    tokens = Mustache.parse(text) as unknown as readonly Token[];
  } catch (error) {
    return `does not parse: ${(error as Error).message}`;
  }
  return tokens.map(tokenProblem).find((problem) => problem !== undefined);
}

function tokenProblem([type, value, _start, _end, inner]: Token): string | undefined {
  if (!PLAIN_TOKENS.includes(type)) return "partials and other delimiters are not possible";
  const isNamed = type !== "text" && type !== "!";
  if (isNamed && value !== "." && !NAMES.includes(value)) return `no fact is called '${value}'`;
  return Array.isArray(inner) ? inner.map(tokenProblem).find((problem) => problem !== undefined) : undefined;
}
