import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { buildClients } from "../../../deploy/clients/build.ts";

const folder = resolve(import.meta.dirname, "../../../clients/console/dist");
/** Maximum compressed bytes before the first screen. */
const FIRST_LOAD = 60 * 1024;

describe("the console as it is served", () => {
  let page: string;
  beforeAll(async () => {
    await buildClients();
    page = readFileSync(join(folder, "index.html"), "utf8");
  });

  const loaded = () => [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, path = ""]) => path);

  test("loads little before it shows something", () => {
    const paths = loaded();
    expect(paths.map((path) => path.slice(path.lastIndexOf(".") + 1)).toSorted()).toEqual(
      expect.arrayContaining(["css", "js"]),
    );
    const sizes = ["index.html", ...paths].map((path) => gzipSync(readFileSync(join(folder, path))).byteLength);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_LOAD);
  });

  test("has nothing that the content policy forbids: no code and no style in the page, no address that holds a file", () => {
    expect(page).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=|data:/i);
    const styles = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".css"));
    for (const name of styles)
      expect(readFileSync(join(folder, "assets", name), "utf8")).not.toMatch(/url\(["']?data:|@import/);
  });

  test("has each of its files compressed, too, with the same contents", () => {
    const assets = join(folder, "assets");
    const plain = readdirSync(assets).filter((name) => !/\.(br|gz)$/.test(name));
    expect(plain.length).toBeGreaterThan(2);
    for (const name of plain) {
      const content = readFileSync(join(assets, name));
      expect(brotliDecompressSync(readFileSync(join(assets, `${name}.br`))).equals(content)).toBe(true);
      expect(gunzipSync(readFileSync(join(assets, `${name}.gz`))).equals(content)).toBe(true);
    }
  });
});
