// @ts-check
// Scrolls to the operation in the URL, such as `#/Pets/getPet`, which the Swagger UI opens below the introduction.

/** The page counts as rendered when nothing has been added to it for this time, in milliseconds. */
const QUIET_MS = 1_000;

/** The element of the operation or tag in the URL. */
function linkedElement() {
  const [, tag, operation] = decodeURIComponent(location.hash).split('/');
  if (!tag) return null;
  const name = operation ? `operations-${tag}-${operation}` : `operations-tag-${tag}`;
  return document.getElementById(name.replaceAll(/\s/g, '_'));
}

/**
 * Keeps it in view while the page is rendered and the content above it grows, unless the reader scrolls.
 * @param {HTMLElement} container where the Swagger UI renders
 */
function showIn(container) {
  if (!location.hash.startsWith('#/')) return;
  let at = scrollY;
  const end = () => observer.disconnect();
  let quiet = 0;
  const show = () => {
    const element = linkedElement();
    if (!element) return;
    clearTimeout(quiet);
    quiet = setTimeout(end, QUIET_MS);
    if (scrollY !== at) return end();
    element.scrollIntoView();
    at = scrollY;
  };
  const observer = new MutationObserver(() => requestAnimationFrame(show));
  observer.observe(container, { childList: true, subtree: true });
  show();
}

/**
 * Scrolls to the operation in the URL, now and whenever the URL changes.
 * @param {HTMLElement} container where the Swagger UI renders
 */
export function showLinkedOperation(container) {
  showIn(container);
  addEventListener('hashchange', () => showIn(container));
}
