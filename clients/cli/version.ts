import description from "../../package.json" with { type: "json" };

/** Version of the command line: that of the platform which serves it. */
export const VERSION: string = description.version;
