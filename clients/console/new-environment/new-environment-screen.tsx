import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { environmentPath } from "../parts/addresses.ts";
import { Copy } from "../parts/copy.tsx";
import { Form } from "../parts/form.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { readYaml } from "../parts/yaml.ts";
import { configSetChoices, repositoryChoices } from "../platform/choices.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { tellOutcome } from "../platform/notices.ts";
import { NewEnvironmentFields } from "./new-environment-fields.tsx";
import { commandOf, type Draft, draftOf, EMPTY, requestOf } from "./request.ts";

/** Creates an environment, and shows the equivalent command. */
export function NewEnvironmentScreen() {
  const { route } = useLocation();
  const [draft, setDraft] = useState<Draft>(EMPTY);
  // A repeated request creates nothing twice.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const choices = useLoaded("choices", async (signal) => {
    const [repositories, configSets] = await Promise.all([repositoryChoices(signal), configSetChoices(signal)]);
    return { repositories, configSets };
  });

  async function submit(values: FormData) {
    const entered = draftOf(values);
    const overrides = await readYaml(entered.overrides);
    const body = requestOf(entered, overrides);
    const { environment } = await platform.call("POST /api/v2/environments", {
      body,
      idempotencyKey: `${idempotencyKey}-${await digestOf(JSON.stringify(body))}`,
    });
    tellOutcome(`${environment.name} is being created`);
    route(environmentPath(environment.name));
  }
  return (
    <Page title="New environment" about="A complete copy of your application, at its own address.">
      <LoadedView of={choices} what="The form">
        {({ repositories, configSets }) => (
          <div class="columns">
            <section class="card" aria-label="What is created">
              <Form submit={submit} label="Create" onInput={(values) => setDraft(draftOf(values))}>
                {(violations) => <NewEnvironmentFields {...{ repositories, configSets, draft, violations }} />}
              </Form>
            </section>
            <section class="card" aria-labelledby="command">
              <div class="card-head">
                <h2 id="command">The same on the command line</h2>
                <Copy text={commandOf(draft)} label="Copy the command" />
              </div>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
              <pre class="command" tabIndex={0}>
                {commandOf(draft)}
              </pre>
              <p class="quiet">It waits until the environment is ready, and prints its address.</p>
            </section>
          </div>
        )}
      </LoadedView>
    </Page>
  );
}

/** A key is for one request, not for another body. */
async function digestOf(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
