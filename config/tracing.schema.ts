import { Type } from "typebox";
import { closed } from "../crds/schema.ts";

export const TracingSettings = closed(
  {
    endpoint: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$",
        maxLength: 512,
        description:
          "The address of a collector that speaks OTLP over HTTP, such as http://collector:4318; spans go to /v1/traces below it. Nothing is traced when left out.",
      }),
    ),
    caFile: Type.Optional(
      Type.String({ minLength: 1, description: "PEM file of the authority behind the collector's certificate." }),
    ),
    headersFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "A file with headers for the collector, one `name: value` a line, such as a token; the endpoint must then be https, or http on loopback.",
      }),
    ),
    sampleRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description:
        "The part of traces that is recorded. Exceptions: requests whose authenticated caller decided about that in `traceparent`, and reconciles that follow from a recorded request.",
    }),
  },
  { default: {}, description: "Spans of requests, of reconciles and of the calls that they make (OpenTelemetry)." },
);
