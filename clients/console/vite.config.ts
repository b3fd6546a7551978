import { defineConfig } from "vite";

/** Builds the console into `dist`, as the platform serves it below `/console/`. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  // Vite compiles JSX by itself: no plugin is needed.
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    emptyOutDir: true,
    // `data:` addresses break the content policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
  },
});
