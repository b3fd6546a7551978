/**
 * Answers the questions of the parent process, which used `startProgram`, and ends with it.
 *
 * @param stop ends this process in order
 */
export function answerParent(answer: (question: string) => unknown, stop: () => void = () => process.exit(0)): void {
  process.once("disconnect", () => process.exit(1));
  // A terminal interrupts every process of the group; the benchmark stops its programs itself.
  process.on("SIGINT", () => undefined);
  process.on("message", async ({ ask }: { ask: string }) => {
    if (ask === "stop") stop();
    else process.send?.({ answer: await answer(ask) });
  });
}
