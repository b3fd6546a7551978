import description from "../../package.json" with { type: "json" };

/** Version, that of the platform which serves it. */
export const VERSION: string = description.version;
