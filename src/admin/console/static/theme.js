// @ts-check
// A separate script that runs before the first paint, so that the chosen colour scheme does not flicker.
(() => {
  const chosen = localStorage.getItem('petstore-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
