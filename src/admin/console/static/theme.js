// @ts-check
// A separate script that the browser runs before it paints, so that a chosen scheme does not flash into the other one.
(() => {
  const chosen = localStorage.getItem('petstore-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
