/**
 * The object without its undefined fields, for optional fields that take a value as it is: `...present({ x })`. A field
 * computed from the value keeps its condition; so do hot paths, where this costs an array for each field.
 */
export function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

type Present<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};
