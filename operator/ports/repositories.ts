import type { Repository } from "../../crds/repository.ts";

/** The registered Repositories, read from this process's cache. */
export interface Repositories {
  find(name: string): Repository | undefined;
  list(): Repository[];
}
