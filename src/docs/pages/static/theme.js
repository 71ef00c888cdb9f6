// @ts-check
// Runs before the page is painted, so that a chosen scheme does not flash into the other one. The choice is kept for all pages of
// the service; without one they follow the system.
(() => {
  const KEY = 'petstore-theme';
  const root = document.documentElement;
  const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

  /** The choice that is kept: light, dark, or system. */
  const chosen = () => {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  };

  const apply = () => {
    const theme = chosen();
    if (theme === 'system') delete root.dataset.theme;
    else root.dataset.theme = theme;
    // The class by which the Swagger UI knows its own dark colours.
    root.classList.toggle('dark-mode', theme === 'dark' || (theme === 'system' && systemIsDark.matches));
  };

  apply();
  systemIsDark.addEventListener('change', apply);
  // Another tab of the same origin has chosen.
  addEventListener('storage', apply);
  addEventListener('DOMContentLoaded', () => {
    const select = /** @type {HTMLSelectElement | null} */ (document.getElementById('theme'));
    if (!select) return;
    select.value = chosen();
    select.addEventListener('change', () => {
      if (select.value === 'system') localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, select.value);
      apply();
    });
    const label = select.closest('label');
    if (label) label.hidden = false;
  });
})();
