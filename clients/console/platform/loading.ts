import { useEffect, useState } from "preact/hooks";

/** Data of a screen. */
export interface Loaded<T> {
  /** Newest answer; the former one during a request. */
  readonly value: T | undefined;
  /** Reason of a missing newer one. */
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

/**
 * Loads when the component mounts, and again when `key` changes or `reload` is called; a newer request aborts an older
 * one.
 */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const request = new AbortController();
    setState((former) => ({ ...former, isLoading: true }));
    load(request.signal).then(
      (value) => {
        if (!request.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (!request.signal.aborted) setState((former) => ({ ...former, error, isLoading: false }));
      },
    );
    return () => request.abort();
  }, [key, round]);
  return { ...state, reload: () => setRound((current) => current + 1) };
}
