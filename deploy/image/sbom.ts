import packageJson from "../../package.json" with { type: "json" };
import { machineArchitecture } from "../build/archive.ts";
import { bundledPackages, type Locked, productionPackages, readPackages } from "./dependencies.ts";
import { readPins } from "./pins.ts";

interface Component {
  readonly type: "library" | "application";
  readonly name: string;
  readonly version: string;
  /** https://github.com/package-url/purl-spec */
  readonly purl: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[];
}

/** A bill of materials: https://cyclonedx.org/docs/1.6/json */
export interface BillOfMaterials {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

/**
 * Third-party parts of the image, with version and licence. Without a time, so that the same commit gives the same bytes.
 */
export async function billOfMaterials(): Promise<BillOfMaterials> {
  const { name, version, license } = packageJson;
  const ours: Component = {
    type: "application",
    name,
    version,
    purl: purlOf(name, version),
    licenses: [{ expression: license }],
  };
  const [{ debian, packages, node }, locked] = [await readPins(), await readPackages("package-lock.json")];
  const architecture = machineArchitecture();
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: ours },
    components: [
      {
        type: "application",
        name: "node",
        version: node.version,
        purl: purlOf("node", node.version),
        licenses: [{ expression: "MIT" }],
        hashes: [{ alg: "SHA-256", content: node.sha256 }],
      },
      ...packages.map((one): Component => {
        const query = `arch=${architecture}&distro=debian-${debian}`;
        const purl = `pkg:deb/debian/${encodeURIComponent(one.name)}@${encodeURIComponent(one.version)}?${query}`;
        const hashes = [{ alg: "SHA-256", content: one.sha256 } as const];
        return { type: "library", name: one.name, version: one.version, purl, hashes };
      }),
      ...new Map(
        [...productionPackages(locked), ...bundledPackages(locked)]
          .map((folder) => ofNpm(folder, locked[folder] ?? {}))
          .map((one) => [one.purl, one]),
      ).values(),
    ],
  };
}

function ofNpm(folder: string, { version = "", license, integrity }: Locked): Component {
  const name = folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
  return {
    type: "library",
    name,
    version,
    purl: purlOf(name, version),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    ...(integrity?.startsWith("sha512-") && { hashes: [{ alg: "SHA-512", content: hexOf(integrity) }] }),
  };
}

/** A scope's `@` is written as `%40`. */
const purlOf = (name: string, version: string) => `pkg:npm/${name.replace("@", "%40")}@${version}`;

const hexOf = (integrity: string) => Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
