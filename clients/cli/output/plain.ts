/**
 * Text of others without escape sequences, control characters, and marks that turn the direction of writing. Tabs
 * become spaces; line ends stay.
 */
export function plain(text: string): string {
  return text.replaceAll(SEQUENCES, "").replaceAll("\t", "  ").replaceAll(CONTROLS, "");
}

/** Same as `plain`, in one line. */
export const plainLine = (text: string): string => plain(text.replaceAll(/\s*[\r\n]+\s*/g, " "));

/** JSON text of the same meaning without terminal sequences. */
export function plainJson(value: unknown, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return (JSON.stringify(value, null, indent) ?? "null").replaceAll(CONTROLS, escaped);
}

// ECMA-48: control sequences, strings such as OSC until BEL or ST, and other escapes, in 7 or 8 bits.
const [ESC, BEL, CSI, ST] = ["\u001b", "\u0007", "\u009b", "\u009c"];
const STRINGS = "\u0090\u0098\u009d\u009e\u009f";
const SEQUENCES = new RegExp(
  [
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]`,
    `(?:${ESC}[\\]PX^_]|[${STRINGS}])[^${BEL}${ESC}${ST}]*(?:${BEL}|${ESC}\\\\|${ST})?`,
    `${ESC}[ -/]*[0-~]`,
  ].join("|"),
  "g",
);
const CONTROLS = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;
