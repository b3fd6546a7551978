/**
 * The projects of Jest, and the folders of their test files. A folder below another project's belongs to its own project
 * alone.
 */
export const projectFolders = {
  unit: "test/unit",
  contract: "test/contract",
  ports: "test/ports",
  "control-plane": "test/control-plane",
  // Tests that break the control plane repeatedly.
  faults: "test/control-plane/faults",
  e2e: "e2e",
  // Tests that break others' dependencies.
  "e2e-alone": "e2e/alone",
  // Tests that install the platform by helm, on a cluster without it.
  "e2e-install": "e2e/install",
  // The ones that take minutes.
  "e2e-install-scenes": "e2e/install/scenes",
} as const;

export type Project = keyof typeof projectFolders;

/** Folders below a project's folder that belong to other projects. */
export function foreignFolders(project: Project): string[] {
  return Object.values(projectFolders).filter((folder) => folder.startsWith(`${projectFolders[project]}/`));
}

/** The project of a test file; `undefined` for any other file. */
export function projectOf(file: string): Project | undefined {
  const around = Object.entries(projectFolders).filter(([, folder]) => file.startsWith(`${folder}/`));
  return around.toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0] as Project | undefined;
}
