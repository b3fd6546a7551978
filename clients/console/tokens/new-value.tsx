import type { CreatedToken } from "../../sdk/index.ts";
import { Copy } from "../parts/copy.tsx";

interface NewValueProps {
  readonly token: CreatedToken;
  readonly close: () => void;
}

/** Value of a new token. It is shown here once, and kept nowhere in the page. */
export function NewValue({ token, close }: NewValueProps) {
  return (
    <section class="card new-value" aria-labelledby="new-value">
      <h2 id="new-value">{token.name} is there</h2>
      <p>Copy the token now: this page does not show it again.</p>
      <div class="value">
        <code>{token.token}</code>
        <Copy text={token.token} label="Copy the token" />
      </div>
      <button type="button" class="small" onClick={close}>
        I have it
      </button>
    </section>
  );
}
