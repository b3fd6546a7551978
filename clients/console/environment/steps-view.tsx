import type { EnvironmentReport } from "../../sdk/index.ts";
import { now } from "../platform/now.ts";
import { remarksOf, type StepState, stepsOf } from "./steps.ts";

const WORDS: Readonly<Record<StepState, string>> = { done: "done", waiting: "waiting", failed: "failed" };

/** Progress and duration of each step, and the remedy for those that are not done. */
export function StepsView({ environment }: { readonly environment: EnvironmentReport }) {
  const steps = stepsOf(environment, now.value);
  return (
    <section class="card" aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      {remarksOf(environment.conditions).map(({ type, message }) => (
        <p key={type} class="remark">
          {message}
        </p>
      ))}
      {steps.length === 0 && <p class="quiet">The platform has not begun yet.</p>}
      <ol class="steps">
        {steps.map(({ type, name, state, duration, message, reason }) => (
          <li key={type} data-state={state}>
            <div class="step">
              <span class="step-name">{name}</span>
              <span class="step-word">{WORDS[state]}</span>
              <span class="step-time">{duration}</span>
            </div>
            {message && <p class="step-message">{message}</p>}
            {!message && state !== "done" && <p class="step-message">{reason}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
