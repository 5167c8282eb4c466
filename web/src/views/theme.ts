// Light or dark: as the system has it, until the button says otherwise.

import { button } from "./dom";

/** The button that changes it. Storage is refused to some pages of file://; then it holds for this visit. */
export function themeButton(): HTMLButtonElement {
  const root = document.documentElement;
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const before = stored();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  return button("Light or dark", { class: "theme" }, () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // Nothing is lost but the memory of it.
    }
  });
}
