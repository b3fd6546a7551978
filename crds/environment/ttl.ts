export const TTL_DEFAULT_HOURS = 24;
export const TTL_MAX_HOURS = 168;
