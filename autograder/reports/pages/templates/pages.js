"use strict";
// Every page: light or dark; and on paper nothing can be opened.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const wish = matchMedia("(prefers-color-scheme: dark)");
  // A file of the disk, or a browser that keeps nothing, may have no storage.
  const kept = (theme) => {
    try {
      if (theme) localStorage.setItem("gradeformer-theme", theme);
      return localStorage.getItem("gradeformer-theme");
    } catch {
      return null;
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wish.matches);
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  const before = kept();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept(root.dataset.theme);
    show();
  });
  wish.addEventListener("change", show);
  show();
  let opened = [];
  addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
    opened.push(...closed);
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened = [];
  });
})();
