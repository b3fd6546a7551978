interface Cookie {
  readonly value: string;
  readonly path: string;
  readonly sameSite: string;
}

export interface Visit {
  readonly method?: "GET" | "POST";
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with its text, for reading forms. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Keeps cookies by host and path, follows redirects, and sends the request's origin as Chromium does: TLS-only cookies are
 * kept on loopback, strict ones are not sent with navigations from another site. It runs no scripts.
 */
export class Browser {
  /** Cookies by host (ports share them), then by path and name. */
  readonly #cookies = new Map<string, Map<string, Cookie>>();
  /** Answers to navigations, in order. */
  readonly seen: Page[] = [];
  /** The shown page, which initiates the next navigation. */
  #shown: string | undefined;

  /** Navigates over redirects, up to one to an address that begins with `until`; returns the last answer. */
  async open(address: string, { until, ...visit }: Visit & { readonly until?: string } = {}): Promise<Page> {
    let [url, requested, initiator] = [address, visit, this.#shown];
    for (let redirects = 0; redirects < 20; redirects += 1) {
      const page = await this.#navigate(url, requested, initiator);
      const location = page.headers.get("location");
      const next = location === null ? undefined : new URL(location, url).href;
      if (next === undefined || (until !== undefined && next.startsWith(until))) {
        this.#shown = page.url;
        return page;
      }
      [url, requested, initiator] = [next, {}, initiator ?? undefined];
    }
    throw new Error(`too many redirects from ${address}`);
  }

  /** Submits the first form of a page, with these fields filled in. */
  submit({ url, text }: Page, fields: Readonly<Record<string, string>> = {}, until?: string): Promise<Page> {
    const [form = ""] = /<form[^>]*>[\s\S]*?<\/form>/.exec(text) ?? [];
    const inputs = [...form.matchAll(/<input[^>]*>/g)].map(([input]) => [
      attribute(input, "name"),
      attribute(input, "value"),
    ]);
    const sent = { ...Object.fromEntries(inputs.filter(([name]) => name !== "")), ...fields };
    const action = new URL(attribute(form, "action") || url, url).href;
    return this.open(action, { method: "POST", form: sent, ...(until !== undefined && { until }) });
  }

  /** Requests as a script of the shown page; redirects are not followed. */
  fetch(
    address: string,
    { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const url = new URL(address, this.#shown);
    const from = new URL(this.#shown ?? url);
    const site = siteBetween(from, url);
    const origin = init.method === undefined || init.method === "GET" ? {} : { origin: from.origin };
    const cookie = this.cookiesFor(url, { isSameSite: site !== "cross-site" });
    return fetch(url, {
      ...init,
      redirect: "manual",
      headers: { cookie, ...origin, "sec-fetch-site": site, "sec-fetch-mode": "cors", ...headers },
    }).then((response) => this.#keepAll(url, response));
  }

  /** The `Cookie` header for an address. */
  cookiesFor(url: URL, { isSameSite }: { readonly isSameSite: boolean }): string {
    const kept = [...(this.#cookies.get(url.hostname) ?? [])];
    return kept
      .filter(([, { path, sameSite }]) => url.pathname.startsWith(path) && (isSameSite || sameSite !== "Strict"))
      .map(([key, { value }]) => `${key.slice(key.lastIndexOf(" ") + 1)}=${value}`)
      .join("; ");
  }

  cookies(host: string): Readonly<Record<string, string>> {
    const kept = [...(this.#cookies.get(host) ?? [])];
    return Object.fromEntries(kept.map(([key, { value }]) => [key.slice(key.lastIndexOf(" ") + 1), value]));
  }

  setCookie(host: string, name: string, value: string): void {
    this.#keep(host, `${name}=${value}; Path=/; SameSite=Strict`);
  }

  async #navigate(
    address: string,
    { method = "GET", form, headers }: Visit,
    initiator: string | undefined,
  ): Promise<Page> {
    const url = new URL(address);
    const site = initiator === undefined ? "none" : siteBetween(new URL(initiator), url);
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        cookie: this.cookiesFor(url, { isSameSite: site !== "cross-site" }),
        ...(method === "POST" && initiator !== undefined && { origin: new URL(initiator).origin }),
        accept: "text/html",
        "sec-fetch-site": site,
        "sec-fetch-mode": "navigate",
        ...headers,
      },
      ...(form && { body: new URLSearchParams(form) }),
    });
    this.#keepAll(url, response);
    const page = { url: url.href, status: response.status, headers: response.headers, text: await response.text() };
    this.seen.push(page);
    return page;
  }

  #keepAll(url: URL, response: Response): Response {
    for (const line of response.headers.getSetCookie()) this.#keep(url.hostname, line);
    return response;
  }

  #keep(host: string, line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const [, path = "/"] = /; *path=([^;]*)/i.exec(line) ?? [];
    const [, sameSite = "Lax"] = /; *samesite=([^;]*)/i.exec(line) ?? [];
    const ofHost = this.#cookies.get(host) ?? new Map<string, Cookie>();
    this.#cookies.set(host, ofHost);
    const isOver = value === "" || /; *max-age=0/i.test(line);
    if (isOver) ofHost.delete(`${path} ${name}`);
    else ofHost.set(`${path} ${name}`, { value, path, sameSite });
  }
}

function siteBetween(from: URL, to: URL): "same-origin" | "same-site" | "cross-site" {
  if (from.origin === to.origin) return "same-origin";
  return from.hostname === to.hostname ? "same-site" : "cross-site";
}

function attribute(tag: string, name: string): string {
  const [, value = ""] = new RegExp(`^<[^>]* ${name}="([^"]*)"`).exec(tag) ?? [];
  return value.replaceAll("&amp;", "&");
}
