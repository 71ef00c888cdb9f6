// @ts-check
// Brings the operation into view that the address names, such as `#/Pets/getPet`: the Swagger UI opens it, below the prose.

/** The page is drawn when nothing has been added to it for so long, in milliseconds. */
const QUIET_MS = 1_000;

/** The element of what the address names: an operation, or a tag. */
function linkedElement() {
  const [, tag, operation] = decodeURIComponent(location.hash).split('/');
  if (!tag) return null;
  const name = operation ? `operations-${tag}-${operation}` : `operations-tag-${tag}`;
  return document.getElementById(name.replaceAll(/\s/g, '_'));
}

/**
 * Keeps it in view while the page is drawn, because what is above it grows, unless the reader moves in the meantime.
 * @param {HTMLElement} place where the Swagger UI draws
 */
function showIn(place) {
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
  observer.observe(place, { childList: true, subtree: true });
  show();
}

/**
 * Has the operation shown that the address names, now and when it names another.
 * @param {HTMLElement} place where the Swagger UI draws
 */
export function showLinkedOperation(place) {
  showIn(place);
  addEventListener('hashchange', () => showIn(place));
}
