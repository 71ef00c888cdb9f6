// @ts-check
// Completes commands with the address of the page, which the service does not know behind a proxy, and adds a
// button that copies them.

for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-api]')))
  place.textContent = new URL(place.dataset.api ?? '', document.baseURI).href;

for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.ariaLive = 'polite';
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(block.innerText);
      button.textContent = 'Copied';
    } catch {
      // Without https the browser offers no clipboard to pages.
      getSelection()?.selectAllChildren(block);
      button.textContent = 'Press Ctrl+C';
    }
  };
  button.addEventListener('click', () => void copy());
  block.after(button);
}
