/** A place in a template that only some values reach. */
export interface Branch {
  /** Branch, for example `line 12, {{- if .Values.check.enabled }} is false`. */
  readonly what: string;
  /** The template changed to fail when the place is reached. */
  readonly mutant: string;
}

/** Comments come first, because they may hold anything. */
const ACTION = /\{\{-?\s*(?:\/\*[\s\S]*?\*\/\s*-?\}\}|(if|with|range|else|end|define|block)\b[\s\S]*?\}\})/g;
const FAIL = '{{ fail "this branch is reached" }}';

interface Action {
  readonly text: string;
  readonly word: string;
  readonly begin: number;
  readonly end: number;
}

interface Block extends Action {
  otherwise?: Action;
}

/**
 * Branches of a Helm template: each condition once true and once false, each list with entries. A suite that passes with a
 * branch's mutant never reaches it.
 */
export function branchesOf(template: string): Branch[] {
  const open: Block[] = [];
  const branches: Branch[] = [];
  for (const action of actionsOf(template)) {
    const last = open.at(-1);
    if (action.word === "else" && last !== undefined) last.otherwise = action;
    else if (action.word === "end") branches.push(...branchesOfBlock(template, open.pop(), action));
    else open.push(action);
  }
  if (open.length > 0) throw new Error(`without an end: ${open.map(({ text }) => text).join(", ")}`);
  return branches;
}

function actionsOf(template: string): Action[] {
  return [...template.matchAll(ACTION)].flatMap(({ 0: text, 1: word, index }) =>
    word === undefined ? [] : [{ text, word, begin: index, end: index + text.length }],
  );
}

function branchesOfBlock(template: string, block: Block | undefined, end: Action): Branch[] {
  if (block === undefined) throw new Error(`an end of nothing: ${template.slice(0, end.end).slice(-80)}`);
  if (!["if", "with", "range"].includes(block.word)) return [];
  const failing = (at: number, text: string) => `${template.slice(0, at)}${text}${template.slice(at)}`;
  const what = `line ${template.slice(0, block.begin).split("\n").length}, ${block.text}`;
  const { otherwise } = block;
  const orElse = otherwise === undefined ? failing(end.begin, `{{ else }}${FAIL}`) : failing(otherwise.end, FAIL);
  const reached = { what: `${what} is true`, mutant: failing(block.end, FAIL) };
  // Some lists are never empty.
  return block.word === "range" ? [reached] : [reached, { what: `${what} is false`, mutant: orElse }];
}
