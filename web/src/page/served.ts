// The page that `wavecast serve --http` has: the program that serves it is what it asks.

import "../style/base.css";
import "../style/page.css";
import { Page } from "./page";
import { RemoteEngine } from "./remote";
import { textarea } from "./textarea";

/** What others than this machine have to know stands in the address, and is taken out of it. */
function token(): string | null {
  const all = new URLSearchParams(location.hash.replace(/^#/, ""));
  const found = all.get("token");
  if (found !== null) {
    all.delete("token");
    history.replaceState(null, "", `#${all}`);
    sessionStorage.setItem("token", found);
  }
  return sessionStorage.getItem("token");
}

void new Page(new RemoteEngine(token()), textarea).start();
