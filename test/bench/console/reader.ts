import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { browser as executablePath } from "../../stages/playwright.ts";
import type { ServedConsole } from "./served-console.ts";

const DEADLINE_MS = 30_000;
const VIEWPORT = { width: 1280, height: 860 };
const ROWS = "tbody tr";

/** A signed-in user with a browser. */
export interface Reader {
  /** Opens the list of environments with an empty cache. */
  openConsole(): Promise<OpenPage>;
  /** Opens another address in the same way; answers the milliseconds until the page was there and its thread free. */
  openEmpty(url: string): Promise<number>;
  stop(): Promise<void>;
}

/** The list of environments in the browser. */
export interface OpenPage {
  /**
   * From the navigation's start until the rows were drawn, changes followed and the page's thread free again; in
   * milliseconds.
   */
  readonly usableMs: number;
  /** The size of all answers on the network. */
  loadedBytes(): Promise<number>;
  /** The names on the page, in its order. */
  names(): Promise<readonly string[]>;
  /** Observes a row from now on. `at` answers when it shows that state, in milliseconds since the epoch. */
  untilRowSays(name: string, state: string): Promise<{ at(): Promise<number> }>;
  /** Goes to the next page; answers the milliseconds from the press to its rows. */
  older(): Promise<number>;
  stop(): Promise<void>;
}

export async function openBrowser({ url, session }: ServedConsole): Promise<Reader> {
  const browser = await chromium.launch({ executablePath });
  const open = async (address: string, isThere: string) => {
    const context = await browser.newContext({ viewport: VIEWPORT });
    // Browsers accept TLS-only cookies on loopback, too; here only by an address with TLS.
    await context.addCookies([{ ...session, url: url.replace("http:", "https:"), secure: true, httpOnly: true }]);
    const page = await context.newPage();
    page.setDefaultTimeout(DEADLINE_MS);
    await page.addInitScript(noteWhenUsable, isThere);
    await page.goto(address);
    const usableMs = await page
      .waitForFunction(() => (globalThis as { usableMs?: number }).usableMs)
      .then((found) => found.jsonValue());
    return { context, page, usableMs: Number(usableMs) };
  };
  return {
    async openConsole() {
      const { context, page, usableMs } = await open(`${url}/console/`, `${ROWS}:nth-child(50), .live[data-tone=good]`);
      return openPage({ context, page, usableMs });
    },
    async openEmpty(address) {
      const { context, usableMs } = await open(address, "body");
      await context.close();
      return usableMs;
    },
    stop: () => browser.close(),
  };
}

function openPage({ context, page, usableMs }: { context: BrowserContext; page: Page; usableMs: number }): OpenPage {
  return {
    usableMs,
    loadedBytes: () => page.evaluate(bytesOfAnswers),
    names: () => page.locator(`${ROWS} th a`).allTextContents(),
    async untilRowSays(name, state) {
      const seen = await page.evaluateHandle(rowSaying, { name, state, rows: ROWS });
      return { at: () => seen.evaluate(({ at }) => at) };
    },
    older: () => page.evaluate(pressOlder, ROWS),
    stop: () => context.close(),
  };
}

// The following functions run in the page, without access to this module.

/** Resolves when an element for each selector is drawn, and the page's thread is free. */
function noteWhenUsable(selectors: string): void {
  const isThere = () => selectors.split(", ").every((selector) => document.querySelector(selector) !== null);
  const look = () => {
    if (document.readyState === "loading" || !isThere()) return requestAnimationFrame(look);
    return requestAnimationFrame(() => setTimeout(() => Object.assign(globalThis, { usableMs: performance.now() })));
  };
  look();
}

function bytesOfAnswers(): number {
  const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return entries.reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize, 0);
}

function rowSaying({ name, state, rows }: { name: string; state: string; rows: string }): { at: Promise<number> } {
  const row = [...document.querySelectorAll(rows)].find((one) => one.querySelector("th a")?.textContent === name);
  if (!row) throw new Error(`no row is about ${name}`);
  const says = () => row.querySelector(".states")?.textContent?.startsWith(state) ?? false;
  const at = new Promise<number>((resolve) => {
    const observer = new MutationObserver(() => {
      if (!says()) return;
      observer.disconnect();
      // Drawn with the next frame.
      requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
    });
    observer.observe(row, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  // Wrapped, because the handle must not wait for it.
  return { at };
}

async function pressOlder(rows: string): Promise<number> {
  const first = () => document.querySelector(`${rows} th a`)?.textContent;
  const former = first();
  const button = [...document.querySelectorAll<HTMLButtonElement>(".pager button")].at(-1);
  const began = performance.now();
  button?.click();
  await new Promise<void>((resolve) => {
    const look = () => (first() !== undefined && first() !== former ? resolve() : requestAnimationFrame(look));
    look();
  });
  return performance.now() - began;
}
