import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Dialog } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { TextField } from "../parts/fields.tsx";
import { Form, textOf } from "../parts/form.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/when.tsx";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { tellOutcome } from "../platform/notices.ts";
import { violationAt } from "../platform/problems.ts";
import { may } from "../platform/user.ts";

const LIMIT = 50;
const pathOf = (id: string) => `/console/config-sets/${encodeURIComponent(id)}`;

/** Config sets that the reader may use. */
export function ConfigSetsScreen() {
  const [offset, setOffset] = useState(0);
  const [isMaking, setMaking] = useState(false);
  const sets = useLoaded(`config sets ${offset}`, (signal) =>
    platform.call("GET /api/v2/config-sets", { query: { limit: LIMIT, offset }, signal }),
  );
  return (
    <Page
      title="Config sets"
      about="Common settings of environments: variables, resources, a database, a lifetime."
      actions={
        may("configs:write") && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New config set
          </button>
        )
      }
    >
      <LoadedView of={sets} what="The config sets">
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty title="No config sets">
              <p>Environments work without. A config set spares its users to repeat the same choices.</p>
            </Empty>
          ) : (
            <>
              <Table caption="Config sets" columns={["Name", "About", "#Version", "#In use by", "Changed"]} isStacked>
                {items.map(({ id, description, version, used_by, updated_at, is_default, production }) => (
                  <tr key={id}>
                    <th scope="row">
                      <a href={pathOf(id)}>{id}</a> {is_default && <span class="tag">default</span>}
                      {production && <span class="tag">production</span>}
                    </th>
                    <td data-label="About">{description || "—"}</td>
                    <td data-label="Version" class="number">
                      {version}
                    </td>
                    <td data-label="In use by" class="number">
                      {used_by}
                    </td>
                    <td data-label="Changed">
                      <Ago at={updated_at} />
                    </td>
                  </tr>
                ))}
              </Table>
              <Pager {...{ total, limit: LIMIT, offset, go: setOffset }} />
            </>
          )
        }
      </LoadedView>
      {isMaking && <NewConfigSet close={() => setMaking(false)} />}
    </Page>
  );
}

function NewConfigSet({ close }: { readonly close: () => void }) {
  const { route } = useLocation();
  async function submit(values: FormData) {
    const body = { name: textOf(values, "name"), description: textOf(values, "description") };
    const { id } = await platform.call("POST /api/v2/config-sets", { body });
    tellOutcome(`${id} is there`);
    route(pathOf(id));
  }
  return (
    <Dialog title="New config set" onClose={close}>
      <Form submit={submit} label="Create" onCancel={close}>
        {(violations) => (
          <>
            <TextField label="Name" name="name" required maxLength={50} wrong={violationAt(violations, "name")} />
            <TextField
              {...{ label: "What it is for", name: "description", maxLength: 500 }}
              wrong={violationAt(violations, "description")}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
