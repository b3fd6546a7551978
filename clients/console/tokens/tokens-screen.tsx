import { useState } from "preact/hooks";
import type { CreatedToken, Token } from "../../sdk/index.ts";
import { Copy } from "../parts/copy.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { CheckField } from "../parts/fields.tsx";
import { Form } from "../parts/form.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { tellOutcome } from "../platform/notices.ts";
import { may } from "../platform/user.ts";
import { NewToken } from "./new-token.tsx";
import { TokenTable } from "./token-table.tsx";

const LIMIT = 50;

/** The reader's API tokens, or all tokens. */
export function TokensScreen() {
  const [offset, setOffset] = useState(0);
  const [isAll, setAll] = useState(false);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<CreatedToken>();
  const [revoked, setRevoked] = useState<Token>();
  const tokens = useLoaded(`${isAll} ${offset}`, (signal) =>
    platform.call("GET /api/v2/tokens", { query: { limit: LIMIT, offset, ...(isAll && { all: true }) }, signal }),
  );
  const isMade = (token: CreatedToken) => {
    setMaking(false);
    setMade(token);
    tokens.reload();
  };
  return (
    <Page
      title="API tokens"
      about="For pipelines and scripts. A token does what its owner may do, within its scopes."
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New token
        </button>
      }
    >
      {made && <NewValue token={made} close={() => setMade(undefined)} />}
      {may("tokens:all") && (
        <CheckField
          label="Tokens of all users"
          checked={isAll}
          onChange={({ currentTarget }) => {
            setAll(currentTarget.checked);
            setOffset(0);
          }}
        />
      )}
      <LoadedView of={tokens} what="The tokens">
        {({ items, total }) =>
          total === 0 ? (
            <Empty title="No tokens">
              <p>A pipeline that makes environments needs one.</p>
            </Empty>
          ) : (
            <>
              <TokenTable tokens={items} revoke={setRevoked} withOwners={isAll} />
              <Pager {...{ total, limit: LIMIT, offset, go: setOffset }} />
            </>
          )
        }
      </LoadedView>
      {isMaking && <NewToken close={() => setMaking(false)} made={isMade} />}
      {revoked && <Revoke token={revoked} close={() => setRevoked(undefined)} done={tokens.reload} />}
    </Page>
  );
}

interface RevokeProps {
  readonly token: Token;
  readonly close: () => void;
  readonly done: () => void;
}

function Revoke({ token, close, done }: RevokeProps) {
  async function submit() {
    await platform.call("DELETE /api/v2/tokens/{id}", { path: { id: token.id } });
    tellOutcome(`${token.name} is revoked`);
    close();
    done();
  }
  return (
    <Dialog title={`Revoke ${token.name}`} onClose={close}>
      <p>Whatever uses it is refused from now on. That can't be undone.</p>
      <Form submit={submit} label="Revoke" isDangerous onCancel={close}>
        {() => null}
      </Form>
    </Dialog>
  );
}

interface NewValueProps {
  readonly token: CreatedToken;
  readonly close: () => void;
}

/** Value of a new token. It is shown here once, and kept nowhere in the page. */
function NewValue({ token, close }: NewValueProps) {
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
