/** The platform's typed client, for Node and browsers. */
export type * from "./api.gen.ts";
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type EventData,
  type Input,
  type Reply,
  type Route,
  type StreamRoute,
} from "./client.ts";
export type { StreamEvent } from "./event-stream.ts";
export { PlatformError } from "./platform-error.ts";
export type { Retries } from "./retry.ts";
