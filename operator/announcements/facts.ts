import { clipped, findCondition } from "../../crds/conditions.ts";
import { componentBuild } from "../../crds/environment/component-build.ts";
import { type EphemeralEnvironment, shownCommit } from "../../crds/environment/ephemeral-environment.ts";
import { plannedEnd } from "../../crds/environment/lifetime.ts";
import { decidingPipeline } from "../../crds/environment/pipelines.ts";
import type { Component } from "../../crds/names.ts";
import { FACT_MAX_LENGTH } from "../../crds/notifications/notification.schema.ts";
import type { Facts, MessageEvent } from "../../crds/notifications/notification.ts";
import { type Build, missingPlaceholder } from "../../crds/repository/image-tag.ts";
import { imageOf, type Repository, tagTemplateOf } from "../../crds/repository/repository.ts";
import type { Repositories } from "../ports/repositories.ts";

/** As pipelines and hosts shorten a commit. */
const SHORT_COMMIT = 8;

/** What a message may say of an environment; never a value of a secret, because conditions hold none. */
export function environmentFacts(
  environment: EphemeralEnvironment,
  event: MessageEvent,
  more: Facts & { readonly reason?: string } = {},
): Facts {
  const { metadata, spec, status } = environment;
  const { repository, branch } = spec.backend;
  const commit = shownCommit(environment, "backend").slice(0, SHORT_COMMIT);
  const failure = event === "failed" ? findCondition(status?.conditions, "Ready") : undefined;
  return present({
    environment: metadata.name,
    event,
    status: event,
    repository,
    branch,
    commit,
    url: status?.url,
    backendUrl: status?.urls?.backend,
    frontendUrl: status?.urls?.frontend,
    hostUrls: hostUrls(status?.urls?.hosts),
    reason: failure?.reason,
    message: failure?.message,
    owner: spec.owner?.name,
    expiresAt: plannedEnd(environment).toISOString(),
    ...more,
  });
}

/** Only whole ones: a URL that is cut leads elsewhere. */
function hostUrls(hosts: { readonly [name: string]: string } = {}): string {
  return Object.entries(hosts).reduce((text, [name, url]) => {
    const longer = `${text === "" ? "" : `${text}, `}${name}: ${url}`;
    return longer.length > FACT_MAX_LENGTH ? text : longer;
  }, "");
}

/** What the message about an ended pipeline says: project, commit, image, status, and of a failure the address. */
export function pipelineFacts(
  environment: EphemeralEnvironment,
  component: Component,
  repositories: Pick<Repositories, "find">,
): Facts {
  const source = environment.spec[component];
  const pipeline = decidingPipeline(source?.pipelines ?? []);
  if (source === undefined || pipeline === undefined) return {};
  const { branch } = source;
  const repository = repositories.find(source.repository);
  const build = componentBuild(environment, component, { branch, commit: pipeline.commit });
  return environmentFacts(environment, "pipeline", {
    repository: source.repository,
    branch,
    project: pipeline.project,
    status: pipeline.status,
    commit: pipeline.commit.slice(0, SHORT_COMMIT),
    ...(repository === undefined ? {} : imageFact(repository, build)),
    ...(pipeline.status === "failed" && pipeline.url !== undefined ? { pipelineUrl: pipeline.url } : {}),
  });
}

/** The image of a build; empty while its tag is not known. */
function imageFact(repository: Repository, build: Build): Pick<Facts, "image"> {
  const isKnown = missingPlaceholder(tagTemplateOf(repository), build) === undefined;
  return isKnown ? { image: imageOf(repository, build) } : {};
}

/** Without what is unknown or empty; a longer text is cut. */
function present(facts: { readonly [name in keyof Facts]?: string | undefined }): Facts {
  const known = Object.entries(facts).filter(([, text]) => text !== undefined && text !== "");
  return Object.fromEntries(known.map(([name, text]) => [name, clipped(text ?? "", FACT_MAX_LENGTH)]));
}
