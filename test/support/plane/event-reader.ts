export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly { readonly id: string; readonly data: unknown }[];
  readonly comments: number;
  readonly isOver: boolean;
  /** Resolves at the end: by the server, or by a cut. */
  readonly end: Promise<"ended" | "cut">;
  leave(): void;
}

/** Requests the stream and reads it to its end. */
export async function readEvents(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  const events: { id: string; data: unknown }[] = [];
  const state = { comments: 0, isOver: false };
  const take = (block: string) => {
    const fields = new Map(
      block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
    );
    if (block.startsWith(":")) state.comments += 1;
    else events.push({ id: fields.get("id") ?? "", data: JSON.parse(fields.get("data") ?? "null") });
  };
  const read = async () => {
    let open = "";
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (open + text).split("\n\n");
      open = blocks.pop() ?? "";
      for (const block of blocks) take(block);
    }
  };
  const end = read()
    .then(
      () => "ended" as const,
      () => "cut" as const,
    )
    .finally(() => {
      state.isOver = true;
    });
  return {
    status: response.status,
    headers: response.headers,
    events,
    end,
    get comments() {
      return state.comments;
    },
    get isOver() {
      return state.isOver;
    },
    leave: () => leaving.abort(),
  };
}
