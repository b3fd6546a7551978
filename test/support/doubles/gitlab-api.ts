import { SELF } from "./host-api.ts";
import { type HostPull, openOnes, shownByGitlab } from "./host-pull-requests.ts";
import { ABSENT, type Routes, startRecordingHost } from "./recording-host.ts";

/**
 * The called part of GitLab's API, for `shop/shop-api` and the notes of its merge request 42. Repeating a status fails as on
 * GitLab, with `Cannot transition status via :run from :running`.
 */
export async function startGitlabApi() {
  const statuses: Record<string, unknown>[] = [];
  const notes: { readonly id: number; body: string; readonly author: { readonly id: number } }[] = [];
  const pulls: HostPull[] = [];
  const project = "\\/projects\\/shop%2Fshop-api";
  const route = (text: string) => new RegExp(`^${text.replace("PROJECT", project)}$`);
  const routes: Routes = [
    [/^GET \/user$/, () => ({ status: 200, body: { id: SELF } })],
    [
      route("POST PROJECT\\/statuses\\/(\\w+)"),
      ({ body }, [sha]) => {
        const former = statuses.findLast((status) => status.sha === sha && status.name === body.name);
        if (former?.state === "running" && body.state === "running") {
          const message =
            'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")';
          return { status: 400, body: { message } };
        }
        statuses.push({ ...body, sha });
        return { status: 201, body: {} };
      },
    ],
    [
      route("GET PROJECT\\/merge_requests\\/42\\/notes\\?(.*)"),
      (_call, [query]) => ({ status: 200, body: new URLSearchParams(query).get("page") === "1" ? notes : [] }),
    ],
    [
      route("POST PROJECT\\/merge_requests\\/42\\/notes"),
      ({ body }) => {
        const id = 100 + notes.length;
        notes.push({ id, body: String(body.body), author: { id: SELF } });
        return { status: 201, body: { id } };
      },
    ],
    [
      route("PUT PROJECT\\/merge_requests\\/42\\/notes\\/(\\d+)"),
      ({ body }, [id]) => {
        const found = notes.find((note) => note.id === Number(id));
        if (found === undefined) return ABSENT;
        found.body = String(body.body);
        return { status: 200, body: { id: found.id } };
      },
    ],
    [
      route("GET PROJECT\\/merge_requests\\?state=opened&order_by=updated_at&sort=desc&per_page=100&page=(\\d+)"),
      (_call, [page]) => {
        const from = (Number(page) - 1) * 100;
        return {
          status: 200,
          body: openOnes(pulls)
            .slice(from, from + 100)
            .map(shownByGitlab),
        };
      },
    ],
    [
      route("GET PROJECT\\/merge_requests\\/(\\d+)"),
      (_call, [number]) => {
        const found = pulls.find((pull) => pull.number === Number(number));
        return found === undefined ? ABSENT : { status: 200, body: shownByGitlab(found) };
      },
    ],
  ];
  return { ...(await startRecordingHost(routes, "/api/v4")), statuses, notes, pulls };
}
