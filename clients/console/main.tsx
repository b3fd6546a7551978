import { render } from "preact";
import "./style/index.ts";
import { App } from "./shell/app.tsx";

const place = document.getElementById("app");
if (place !== null) render(<App />, place);
