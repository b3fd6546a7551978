import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { ConfigSet, ConfigSetContent } from "../../sdk/index.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { TextArea } from "../parts/fields.tsx";
import { Form, textOf } from "../parts/form.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { Ago } from "../parts/when.tsx";
import { asYaml, readYaml } from "../parts/yaml.ts";
import { platform } from "../platform/client.ts";
import { type Loaded, useLoaded } from "../platform/loading.ts";
import { tellOutcome } from "../platform/notices.ts";
import { may } from "../platform/user.ts";
import { contentOf } from "./content.ts";

interface Shown {
  readonly set: ConfigSet;
  readonly text: string;
}

/** One config set, and its content as YAML. */
export function ConfigSetScreen() {
  const { id = "" } = useRoute().params;
  const [isDeleting, setDeleting] = useState(false);
  const shown = useLoaded(id, async (signal) => {
    const set = await platform.call("GET /api/v2/config-sets/{id}", { path: { id }, signal });
    return { set, text: await asYaml(contentOf(set)) };
  });
  return (
    <Page
      title={id}
      about={shown.value?.set.description}
      actions={
        may("configs:write") &&
        shown.value && (
          <button type="button" class="danger-quiet" onClick={() => setDeleting(true)}>
            Delete…
          </button>
        )
      }
    >
      <LoadedView of={shown} what="The config set">
        {({ set, text }) => (
          <div class="columns">
            <section class="card" aria-labelledby="content">
              <h2 id="content">Content</h2>
              {may("configs:write") ? (
                <Editor key={set.version} {...{ set, text, shown }} />
              ) : (
                <pre class="command">{text}</pre>
              )}
            </section>
            <section class="card" aria-labelledby="details">
              <h2 id="details">Details</h2>
              <Facts
                of={[
                  ["Version", set.version],
                  ["In use by", `${set.used_by} environments`],
                  ["Default", set.is_default ? "yes" : "no"],
                  ["For environments", set.production ? "no: it is for production" : "yes"],
                  ["Groups", set.access.groups.join(", ") || "everybody"],
                  ["Created by", set.created_by],
                  ["Changed", <Ago key="changed" at={set.updated_at} />],
                ]}
              />
            </section>
          </div>
        )}
      </LoadedView>
      {isDeleting && <DeleteConfigSet id={id} close={() => setDeleting(false)} />}
    </Page>
  );
}

function Editor({ set, text, shown }: Shown & { readonly shown: Loaded<Shown> }) {
  const { id, version } = set;
  async function submit(values: FormData) {
    const body = ((await readYaml(textOf(values, "content"))) ?? {}) as ConfigSetContent;
    const current = await platform.call("GET /api/v2/config-sets/{id}", { path: { id } });
    if (current.version !== version) {
      throw new Error(`Version ${current.version} was made meanwhile. Reload the page, and change that one.`);
    }
    const next = await platform.call("PUT /api/v2/config-sets/{id}", { path: { id }, body });
    tellOutcome(`Version ${next.version} of ${id} is there`);
    shown.reload();
  }
  return (
    <Form submit={submit} label="Save as a new version">
      {() => (
        <TextArea
          {...{ label: "As YAML", name: "content", rows: 18, defaultValue: text }}
          hint="A part that is left out is removed. Environments that run keep the version that they were made with."
        />
      )}
    </Form>
  );
}

function DeleteConfigSet({ id, close }: { readonly id: string; readonly close: () => void }) {
  const { route } = useLocation();
  async function submit() {
    const { message } = await platform.call("DELETE /api/v2/config-sets/{id}", { path: { id } });
    tellOutcome(message);
    route("/console/config-sets");
  }
  return (
    <Dialog title={`Delete ${id}`} onClose={close}>
      <p>One that environments use is not deleted.</p>
      <Form submit={submit} label="Delete" isDangerous onCancel={close}>
        {() => null}
      </Form>
    </Dialog>
  );
}
