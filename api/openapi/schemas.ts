import { KUBERNETES_KEYWORDS } from "../../crds/schema.ts";
import { RAW_KEYWORD } from "../input/raw-body.ts";

/** A part of the document, or an internal schema before conversion. */
export type DocumentPart = Readonly<Record<string, unknown>>;

/** Component schemas by title, collected on the way. */
export type Components = Map<string, DocumentPart>;

/** Keywords that only the platform's own checks read. */
const INTERNAL = new Set<string>([...KUBERNETES_KEYWORDS, "x-refusal", "x-number-as-text", RAW_KEYWORD, "title"]);
const NESTING = new Set<string>(["items", "additionalProperties", "propertyNames"]);

/** Keywords that the document replaces with others. */
const TRANSLATED: readonly (readonly [keyword: string, value: string, shown: string, as: unknown])[] = [
  // More is accepted; every client generator knows this part.
  ["format", "instant", "format", "date-time"],
  // The structural schemas of CRDs have no uniqueItems.
  ["x-kubernetes-list-type", "set", "uniqueItems", true],
];

/** Schema for the document: titled ones move to the components, internal keywords go. */
export function component(schema: DocumentPart, components: Components): DocumentPart {
  const shown = shownKeywords(schema, components);
  if (typeof schema.title !== "string") return shown;
  components.set(schema.title, shown);
  return { $ref: `#/components/schemas/${schema.title}` };
}

function shownKeywords(schema: DocumentPart, components: Components): DocumentPart {
  const nested = (value: unknown) => component(value as DocumentPart, components);
  const { "x-one-of": forms, description } = schema;
  // Validated as one schema of several types, shown as several: client generators support one type at a time.
  if (Array.isArray(forms)) return { description, oneOf: forms.map(nested) };
  const shown = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    const translated = TRANSLATED.find(([known, of]) => known === keyword && of === value);
    if (translated !== undefined) return [[translated[2], translated[3]]];
    if (INTERNAL.has(keyword)) return [];
    if (NESTING.has(keyword) && typeof value === "object") return [[keyword, nested(value)]];
    if (keyword !== "properties") return [[keyword, value]];
    return [
      [
        keyword,
        Object.fromEntries(Object.entries(value as DocumentPart).map(([name, child]) => [name, nested(child)])),
      ],
    ];
  });
  return Object.fromEntries(shown);
}
