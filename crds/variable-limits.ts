/** Limits of an environment's variables: docs/adr/0286-limits-of-variables.md. */
import type { Component } from "./names.ts";

/** Limit of the variables of one list. */
export const MOST_VARIABLES = 500;
/** Limit of a list's references to the secret manager: each is a call, and a row in the status. */
export const MOST_REFERENCES = 100;
/** Characters of one value. */
export const VARIABLE_MAX_LENGTH = 32_768;
/**
 * Limit of a component as JSON: client-side apply keeps the Deployment in an annotation, and annotations have 256 KiB.
 */
export const COMPONENT_MAX_BYTES = 245_760;
/**
 * Limit of an environment as JSON: Argo CD keeps an application's values four times in an object, and etcd takes 1.5
 * MiB.
 */
export const ENVIRONMENT_MAX_BYTES = 262_144;

interface Measured {
  readonly name: string;
  readonly value?: string;
}

/**
 * Characters that Go's JSON escapes in six bytes, https://pkg.go.dev/encoding/json#HTMLEscape; the chart doubles a
 * dollar sign.
 */
const ESCAPED = /[<>&\u2028\u2029]/g;

/** Bytes of variables as JSON in a Deployment. */
export function bytesOfVariables(variables: readonly Measured[]): number {
  const sizes = variables.map(({ name, value = "" }) => {
    const text = JSON.stringify({ name, value }).replaceAll(ESCAPED, "\\u0026").replaceAll("$", "$$$$");
    return Buffer.byteLength(text) + 1;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Variables of an environment's components, from all sources. */
export type ComponentVariables = readonly (readonly [component: Component, variables: readonly Measured[]])[];

/** Excess of one component or of all; `undefined` where everything fits. */
export function variablesProblem(
  components: ComponentVariables,
): { readonly component?: Component; readonly message: string } | undefined {
  const sizes = components.map(([component, variables]) => ({ component, bytes: bytesOfVariables(variables) }));
  const long = sizes.find(({ bytes }) => bytes > COMPONENT_MAX_BYTES);
  if (long !== undefined) {
    return {
      component: long.component,
      message: tooLong(`the variables of the ${long.component}`, long.bytes, COMPONENT_MAX_BYTES),
    };
  }
  const bytes = sizes.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes <= ENVIRONMENT_MAX_BYTES) return undefined;
  return { message: tooLong("the variables of all components", bytes, ENVIRONMENT_MAX_BYTES) };
}

const tooLong = (what: string, bytes: number, most: number) =>
  `${what} have ${kib(bytes)} KiB as JSON, and may have ${most / 1024}: put long ones into a file of the image, or into the secret manager`;

const kib = (bytes: number) => Math.ceil(bytes / 1024);
