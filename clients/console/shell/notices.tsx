import { dismiss, failures, outcome } from "../platform/notices.ts";

/** Failures until they are dismissed; outcomes for a moment. */
export function Notices() {
  return (
    <>
      {failures.value.map((failure) => (
        <div key={failure.id} class="failure" role="alert">
          <strong>{failure.title}</strong>
          <p>{failure.sentence}</p>
          {failure.requestId && <p class="quiet">Request {failure.requestId}</p>}
          <button type="button" class="small" onClick={() => dismiss(failure)}>
            Dismiss
          </button>
        </div>
      ))}
      <div class="outcome" role="status">
        {outcome.value && <p>{outcome.value}</p>}
      </div>
    </>
  );
}
