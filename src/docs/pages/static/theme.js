// @ts-check
// Runs before the page is painted, so that a chosen scheme does not flash into the other one. The choice is kept for all pages of
// the service, the console too; without one they follow the system.
(() => {
  const KEY = 'petstore-theme';
  const { dataset } = document.documentElement;

  const apply = () => {
    const kept = localStorage.getItem(KEY);
    if (kept === 'light' || kept === 'dark') dataset.theme = kept;
    else delete dataset.theme;
  };

  apply();
  // Another tab of the same origin has chosen.
  addEventListener('storage', apply);
  addEventListener('DOMContentLoaded', () => {
    const select = /** @type {HTMLSelectElement} */ (document.getElementById('theme'));
    select.value = dataset.theme ?? 'system';
    select.addEventListener('change', () => {
      localStorage.setItem(KEY, select.value);
      apply();
    });
    select.parentElement?.removeAttribute('hidden');
  });
})();
