/** A commit on a branch: that branch's first one, or one after another commit of the same import. */
export interface Commit {
  readonly branch: string;
  readonly message: string;
  /** Texts by path: all files of a first commit, additional ones of a later one. None can be executed. */
  readonly files: ReadonlyMap<string, string>;
  /** The place in the import of the commit before it; none for a first one. */
  readonly after?: number;
}

/** Author and committer, with seconds since 1970. */
export interface Signature {
  readonly name: string;
  readonly email: string;
  readonly seconds: number;
}

/** The ref of an import's commits until it ends. */
const UNFINISHED = "refs/unfinished/import";
const NOTHING = "0".repeat(40);

/**
 * The stream that has `git fast-import --force` write the commits into a bare repository, move those branches to them, and
 * print the commits' ids in order, one in each line. Commits of other branches are written all the same.
 *
 * https://git-scm.com/docs/git-fast-import
 */
export function importStream(commits: readonly Commit[], moved: readonly string[], by: Signature): string {
  const written = commits.map((commit, index) => commitOf(commit, index, by));
  const branches = commits.flatMap(({ branch }, index) =>
    moved.includes(branch) ? [`reset refs/heads/${branch}\nfrom ${mark(index)}`] : [],
  );
  const ids = commits.map((_, index) => `get-mark ${mark(index)}`);
  return [...written, ...branches, ...ids, `reset ${UNFINISHED}\nfrom ${NOTHING}\n`].join("\n");
}

const mark = (index: number) => `:${index + 1}`;

function commitOf({ message, files, after }: Commit, index: number, { name, email, seconds }: Signature): string {
  const signature = `${name} <${email}> ${seconds} +0000`;
  const isFirst = after === undefined;
  return [
    // A first commit has a ref without a history.
    ...(isFirst ? [`reset ${UNFINISHED}`] : []),
    `commit ${UNFINISHED}`,
    `mark ${mark(index)}`,
    `author ${signature}`,
    `committer ${signature}`,
    data(`${message}\n`),
    ...(isFirst ? [] : [`from ${mark(after)}`]),
    ...Array.from(files, ([path, content]) => `M 100644 inline ${path}\n${data(content)}`),
  ].join("\n");
}

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}`;
