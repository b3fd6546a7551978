/** Fields that have a value. */
export function given<T extends object>(fields: T): { [Field in keyof T]?: NonNullable<T[Field]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Field in keyof T]?: NonNullable<T[Field]> };
}
