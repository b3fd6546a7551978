import type { ConfigSet, Repository } from "../../sdk/index.ts";
import { CheckField, SelectField, TextArea, TextField } from "../parts/fields.tsx";
import { type Violation, violationAt } from "../platform/problems.ts";
import type { Draft } from "./request.ts";

interface NewEnvironmentFieldsProps {
  readonly repositories: readonly Repository[];
  readonly configSets: readonly ConfigSet[];
  readonly draft: Draft;
  readonly violations: readonly Violation[];
}

/** The platform's maximum, in hours. */
const LONGEST_TTL = 168;

export function NewEnvironmentFields({ repositories, configSets, draft, violations }: NewEnvironmentFieldsProps) {
  const wrong = (field: string) => violationAt(violations, field);
  const backends = repositories.filter(({ type }) => type === "backend");
  const frontends = repositories.filter(({ type }) => type === "frontend");
  const branchOf = (id: string) => repositories.find((one) => one.id === id)?.default_branch ?? "";
  return (
    <>
      <TextField
        {...{ label: "Name", name: "environment_name", required: true, minLength: 3, maxLength: 50 }}
        hint="Small letters, digits and hyphens. It becomes a part of the address."
        wrong={wrong("environment_name")}
      />
      <div class="pair">
        <SelectField label="Backend" name="backend_repo" required wrong={wrong("backend_repo")}>
          <option value="">Choose…</option>
          {backends.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </SelectField>
        <TextField
          {...{ label: "Branch", name: "backend_branch", required: true, placeholder: branchOf(draft.backend_repo) }}
          wrong={wrong("backend_branch")}
        />
      </div>
      <div class="pair">
        <SelectField label="Frontend" name="frontend_repo" wrong={wrong("frontend_repo")}>
          <option value="">None</option>
          {frontends.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </SelectField>
        <TextField
          {...{ label: "Frontend branch", name: "frontend_branch", disabled: draft.frontend_repo === "" }}
          placeholder={branchOf(draft.frontend_repo)}
          wrong={wrong("frontend_branch")}
        />
      </div>
      <div class="pair">
        <SelectField label="Config set" name="config_set" wrong={wrong("config_set")}>
          <option value="">{configSets.find(({ is_default }) => is_default)?.id ?? "None"} (default)</option>
          {configSets
            .filter(({ production, is_default }) => !production && !is_default)
            .map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
        </SelectField>
        <TextField
          {...{ label: "Hours", name: "ttl", type: "number", min: 1, max: LONGEST_TTL, placeholder: "24" }}
          hint={`At most ${LONGEST_TTL}.`}
          wrong={wrong("ttl")}
        />
      </div>
      <details class="more">
        <summary>More</summary>
        <TextField
          {...{
            label: "Commit of the backend",
            name: "backend_commit",
            maxLength: 64,
            placeholder: "the latest of the branch",
          }}
          wrong={wrong("backend_commit")}
        />
        <SelectField label="Database" name="provision_database" wrong={wrong("provision_database")}>
          <option value="">As the config set says</option>
          <option value="yes">PostgreSQL</option>
          <option value="no">None</option>
        </SelectField>
        <CheckField label="With the shared API keys of the config set" name="use_shared_api_keys" value="yes" />
        <TextArea
          {...{ label: "Overrides", name: "overrides", rows: 6, placeholder: "backend:\n  env:\n    LOG_LEVEL: debug" }}
          hint="Values of the chart, as YAML. Secrets belong into the secret manager: name them by secretKeyRef."
          wrong={wrong("config_overrides")}
        />
      </details>
    </>
  );
}
