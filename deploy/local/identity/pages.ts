/** The log-in page. It posts e-mail and password to its own address; `problem` stands above the form. */
export function loginPage(problem?: string): string {
  return page(
    "Log in",
    `${problem ? `<p role="alert">${escaped(problem)}</p>` : ""}
<form method="post" autocomplete="on">
<label>E-mail <input name="email" type="email" required autofocus autocomplete="username"></label>
<label>Password <input name="password" type="password" required autocomplete="current-password"></label>
<button>Log in</button>
</form>
<p>Accounts and passwords of this local identity provider: <code>.local/identity-provider/passwords.json</code>.</p>`,
  );
}

/** The page for a new password; it posts to its own address. */
export function passwordPage(problem?: string): string {
  return page(
    "New password",
    `${problem ? `<p role="alert">${escaped(problem)}</p>` : ""}
<form method="post">
<label>New password <input name="password" type="password" required autofocus autocomplete="new-password"></label>
<button>Set password</button>
</form>`,
  );
}

/** The page after a new password was set. */
export function passwordSetPage(): string {
  return page("New password", "<p>The new password is set.</p>");
}

/** The page for the code of a program without a browser; `form` is the provider's own. */
export function devicePage(form: string, problem?: string): string {
  return page(
    "Log in a program",
    `${problem ? `<p role="alert">${escaped(problem)}</p>` : ""}
<p>Enter the code that the program shows.</p>
${form}
<button form="op.deviceInputForm">Continue</button>`,
  );
}

/** The page that asks a person to confirm a program's code. */
export function deviceConfirmPage(form: string, { clientId, code }: { clientId: string; code: string }): string {
  return page(
    "Log in a program",
    `<p><strong>${escaped(clientId)}</strong> wants to act as you. It has to show this code:</p>
<p><code>${escaped(code)}</code></p>
<p>If you have not started it yourself, close this page.</p>
${form}
<button form="op.deviceConfirmForm" autofocus>Continue</button>
<button form="op.deviceConfirmForm" name="abort" value="yes">Cancel</button>`,
  );
}

/** The page after a program was confirmed. */
export function deviceDonePage(): string {
  return page("Logged in", "<p>The program is logged in. You can close this page.</p>");
}

/** The page that confirms a log-out; `form` is the provider's own. */
export function logOutPage(form: string): string {
  return page(
    "Log out",
    `<p>Log out of this identity provider, too?</p>
${form}
<button form="op.logoutForm" name="logout" value="yes" autofocus>Log out</button>
<button form="op.logoutForm">Stay logged in</button>`,
  );
}

/** The page after a log-out without a return address. */
export function loggedOutPage(): string {
  return page("Logged out", "<p>You are logged out.</p>");
}

/** The page for a failed log-in. */
export function errorPage(problem: string): string {
  return page("That did not work", `<p role="alert">${escaped(problem)}</p>`);
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
body{font:16px/1.5 system-ui;margin:4rem auto;max-width:24rem;padding:0 1rem}
label{display:block;margin:1rem 0}input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:.4rem}
button{font:inherit;padding:.4rem 1.2rem}[role=alert]{color:#a00}
</style>
</head>
<body>
<h1>${title}</h1>
${content}
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
