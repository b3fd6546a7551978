import type { WriteStream } from "node:tty";

/** Tells a person which steps are being worked on and how long each took. */
export interface Progress {
  /** Runs one step under its name; steps may overlap. The step's result or failure is passed on unchanged. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Shows progress on a stream: on a terminal as one live line with the running steps and their seconds, elsewhere
 * (a log of a build server) as plain lines: at the end of each step, and now and then while a slow one goes on.
 */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const running = new Map<string, number>();
  const live = stream.isTTY ? liveLine(stream, running) : undefined;
  return {
    async step(name, work) {
      const began = performance.now();
      running.set(name, began);
      const slow = live ? undefined : tellRegularly(() => stream.write(`${name} … ${seconds(began)}\n`));
      live?.start();
      try {
        const result = await work();
        live?.clear();
        stream.write(`${name}: ${seconds(began)}\n`);
        return result;
      } finally {
        slow?.stop();
        running.delete(name);
        if (running.size === 0) live?.stop();
      }
    },
  };
}

/** Shows nothing: for tests and for commands whose output is read by a program. */
export const silentProgress: Progress = { step: (_name, work) => work() };

/** After two seconds and every half minute: builds take minutes, and a silent log looks like one that hangs. */
function tellRegularly(tell: () => void): { stop: () => void } {
  let timer = setTimeout(function again() {
    tell();
    timer = setTimeout(again, 30_000).unref();
  }, 2000).unref();
  return { stop: () => clearTimeout(timer) };
}

function liveLine(stream: WriteStream, running: ReadonlyMap<string, number>) {
  let timer: NodeJS.Timeout | undefined;
  const clear = () => stream.write("\r\u001b[K");
  const draw = () => {
    const steps = [...running].map(([name, began]) => `${name} ${seconds(began)}`).join(", ");
    clear();
    stream.write(steps.slice(0, (stream.columns || 80) - 1));
  };
  return {
    clear,
    start: () => {
      timer ??= setInterval(draw, 200).unref();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
      clear();
    },
  };
}

function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}
