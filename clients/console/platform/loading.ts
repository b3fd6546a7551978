import { useEffect, useState } from "preact/hooks";

/** What a screen has of something that the platform is asked for. */
export interface Loaded<T> {
  /** The newest answer; a former one stays while the next is waited for. */
  readonly value: T | undefined;
  /** Why there is no newer one. */
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

/** Asks when the component comes, and again when `key` changes or `reload` is called; a newer question ends an older one. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const asked = new AbortController();
    setState((former) => ({ ...former, isLoading: true }));
    load(asked.signal).then(
      (value) => {
        if (!asked.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (!asked.signal.aborted) setState((former) => ({ ...former, error, isLoading: false }));
      },
    );
    return () => asked.abort();
  }, [key, round]);
  return { ...state, reload: () => setRound((current) => current + 1) };
}
