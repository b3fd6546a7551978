/** Headers of replies by name, as the OpenAPI document describes them. */
export const HEADERS = {
  "X-Request-ID": {
    description: "The id of the request, the caller's own when it is well formed.",
    schema: { type: "string" },
    example: "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
  },
  "X-RateLimit-Limit": {
    description: "Requests a minute; an hour, where the operation says so.",
    schema: { type: "integer" },
    example: 100,
  },
  "X-RateLimit-Remaining": { description: "Remaining requests.", schema: { type: "integer" }, example: 99 },
  "X-RateLimit-Reset": {
    description: "End of the window, in epoch seconds.",
    schema: { type: "integer" },
    example: 1780315260,
  },
  "Retry-After": {
    description: "Seconds until trying again makes sense.",
    schema: { type: "integer" },
    example: 5,
  },
  "WWW-Authenticate": {
    description: "`Bearer`: the authentication scheme.",
    schema: { type: "string" },
    example: "Bearer",
  },
} as const;
