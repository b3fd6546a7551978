/** Beginnings of the names of environments that are broken on purpose. */
export const POISONOUS = "poisonous-";
export const SLOW = "slow-";
export const STUCK = "stuck-";
