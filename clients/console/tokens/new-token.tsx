import type { CreatedToken, TokenRequest } from "../../sdk/index.ts";
import { Dialog } from "../parts/dialog.tsx";
import { CheckField, SelectField, TextField } from "../parts/fields.tsx";
import { Form, textOf } from "../parts/form.tsx";
import { platform } from "../platform/client.ts";
import { violationAt } from "../platform/problems.ts";

const SCOPES = [
  ["ENV_CREATE", "Create and manage environments"],
  ["ENV_READ", "Read environments"],
  ["CONFIG_READ", "Read config sets and repositories"],
  ["CONFIG_WRITE", "Change config sets"],
] as const;

interface NewTokenProps {
  readonly close: () => void;
  readonly made: (token: CreatedToken) => void;
}

/** Form for a new API token. */
export function NewToken({ close, made }: NewTokenProps) {
  async function submit(values: FormData) {
    const days = textOf(values, "expires_in_days");
    const description = textOf(values, "description");
    const body: TokenRequest = {
      name: textOf(values, "name"),
      scopes: values.getAll("scopes") as TokenRequest["scopes"],
      ...(description && { description }),
      ...(days && { expires_in_days: Number(days) }),
    };
    made(await platform.call("POST /api/v2/tokens", { body }));
  }
  return (
    <Dialog title="New API token" onClose={close}>
      <Form submit={submit} label="Create" onCancel={close}>
        {(violations) => (
          <>
            <TextField
              {...{ label: "Name", name: "name", required: true, maxLength: 100, placeholder: "ci of the shop" }}
              wrong={violationAt(violations, "name")}
            />
            <TextField
              label="What it is for"
              name="description"
              maxLength={500}
              wrong={violationAt(violations, "description")}
            />
            <fieldset>
              <legend>Scopes</legend>
              {SCOPES.map(([scope, text]) => (
                <CheckField key={scope} name="scopes" value={scope} label={text} hint={scope} />
              ))}
              {violationAt(violations, "scopes") && <p class="wrong">{violationAt(violations, "scopes")}</p>}
            </fieldset>
            <SelectField label="Expires" name="expires_in_days" wrong={violationAt(violations, "expires_in_days")}>
              <option value="7">after 7 days</option>
              <option value="30">after 30 days</option>
              <option value="90" selected>
                after 90 days
              </option>
              <option value="365">after a year</option>
              <option value="">never</option>
            </SelectField>
          </>
        )}
      </Form>
    </Dialog>
  );
}
