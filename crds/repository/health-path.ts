/** No two slashes in a row, because `//host/` names another host; no nested repetition, which backtracks. */
export const HEALTH_PATH_PATTERN = "^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*/?)?$";
