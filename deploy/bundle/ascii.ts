/**
 * Makes JavaScript of ASCII alone. Otherwise the engine keeps all of its text as characters of two bytes: it reads them more slowly, and
 * they take twice the memory. For code whose other characters are in texts, patterns and comments, and in no raw template.
 */
export const inAscii = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
