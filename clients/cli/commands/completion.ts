import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { documented } from "../parameters.ts";

/**
 * Scripts that run `eenv __complete WORD…`, which prints a line for each proposal: the word, a tab, its description.
 */
const SCRIPTS = {
  bash: `_eenv() {
  local line
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    COMPREPLY+=("$line")
  done < <(eenv __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _eenv eenv
`,
  zsh: `#compdef eenv
_eenv() {
  local -a proposals
  local word brief
  while IFS=$'\\t' read -r word brief; do
    proposals+=("\${word//:/\\\\:}:$brief")
  done < <(eenv __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#proposals} )) && _describe eenv proposals || _files
}
compdef _eenv eenv
`,
  fish: `function __eenv_complete
  set --local words (commandline --tokenize --cut-at-cursor --current-process)
  eenv __complete $words[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null
end
complete --command eenv --no-files --arguments '(__eenv_complete)'
complete --command eenv --condition 'not string length --quiet (__eenv_complete)' --force-files
`,
} as const;
type Shell = keyof typeof SCRIPTS;
const SHELLS = Object.keys(SCRIPTS) as Shell[];

function run(this: Context, _flags: Record<never, never>, shell: Shell): void {
  this.process.stdout.write(SCRIPTS[shell]);
}

/** `eenv completion`. */
export const completion = buildCommand<Record<never, never>, [shell: Shell], Context>({
  func: run,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          brief: `One of ${SHELLS.join(", ")}`,
          placeholder: "shell",
          parse: shellOf,
          proposeCompletions: (partial) => SHELLS.filter((shell) => shell.startsWith(partial)),
        },
      ],
    },
  },
  docs: documented(
    "Print a script that completes commands, flags and names in a shell",
    ["completion bash", "completion zsh", "completion fish"],
    "bash: source <(eenv completion bash). zsh: the same, or a file _eenv in $fpath. fish: eenv completion fish | source.",
  ),
});

function shellOf(text: string): Shell {
  const found = SHELLS.find((shell) => shell === text);
  if (found === undefined) throw new Error(`it must be one of ${SHELLS.join(", ")}`);
  return found;
}
