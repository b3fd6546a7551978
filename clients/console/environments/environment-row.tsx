import type { ListedEnvironmentReport } from "../../sdk/index.ts";
import { environmentPath } from "../parts/addresses.ts";
import { OuterLink } from "../parts/outer-link.tsx";
import { Ago, Until } from "../parts/when.tsx";
import { EnvironmentState } from "./environment-state.tsx";

interface EnvironmentRowProps {
  readonly environment: ListedEnvironmentReport;
  readonly isChosen?: boolean;
  readonly choose?: (isChosen: boolean) => void;
}

export function EnvironmentRow({ environment, isChosen = false, choose }: EnvironmentRowProps) {
  const { name, urls, repositories, creator } = environment;
  const { repo, branch } = repositories.backend;
  return (
    <tr>
      {choose && (
        <td class="choice">
          <input
            type="checkbox"
            aria-label={`Choose ${name}`}
            checked={isChosen}
            onChange={({ currentTarget }) => choose(currentTarget.checked)}
          />
        </td>
      )}
      <th scope="row">
        <a href={environmentPath(name)}>{name}</a>
        <small>
          {creator.name || creator.email || "unknown"}, <Ago at={environment.created_at} />
        </small>
      </th>
      <td data-label="State">
        <EnvironmentState of={environment} />
      </td>
      <td data-label="Source">
        {repo}
        <small class="branch">{branch}</small>
      </td>
      <td data-label="Address" class="one-line">
        <OuterLink address={urls.frontend ?? urls.backend} />
      </td>
      <td data-label="Expires">{whenItGoes(environment)}</td>
    </tr>
  );
}

function whenItGoes({ status, expires_at: expires, ...environment }: ListedEnvironmentReport) {
  if (status === "terminating") return "—";
  const { protected: isProtected, protected_until: until } = environment;
  if (!isProtected) return <Until at={expires} />;
  return until === null ? "never" : <Until at={until} />;
}
