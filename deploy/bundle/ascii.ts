/**
 * Escapes JavaScript to ASCII. Otherwise the engine keeps the whole text in two-byte characters: twice the memory, and
 * slower to read. For code with other characters only in strings, patterns and comments, not in raw templates.
 */
export const inAscii = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
