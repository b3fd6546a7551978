import { Type } from "typebox";
import { rules } from "../schema.ts";
import { KNOWN_REFERENCES_CEL, REFERENCES_SENTENCE, UNKNOWN_REFERENCE_CEL } from "./references.ts";

/** Bounds what the API server and the YAML reader have to read. */
export const CHART_VALUES_MAX_LENGTH = 32_768;

/** Values of a chart, as YAML with references. Only the reader finds malformed YAML. */
export const ChartValues = (description: string) =>
  Type.String({
    maxLength: CHART_VALUES_MAX_LENGTH,
    description,
    ...rules({
      rule: KNOWN_REFERENCES_CEL,
      message: `an unknown reference: ${REFERENCES_SENTENCE}`,
      messageExpression: UNKNOWN_REFERENCE_CEL,
    }),
  });
