/** Prefixes of deliberately broken environments. */
export const POISONOUS = "poisonous-";
export const SLOW = "slow-";
export const STUCK = "stuck-";
