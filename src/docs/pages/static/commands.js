// @ts-check
// Inserts the page's address, which the service does not know behind a proxy, into commands, and adds a button to copy them.

for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-api]')))
  element.textContent = new URL(element.dataset.api ?? '', document.baseURI).href;

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
      // Without https, browsers do not give pages access to the clipboard.
      getSelection()?.selectAllChildren(block);
      button.textContent = 'Press Ctrl+C';
    }
  };
  button.addEventListener('click', () => void copy());
  block.after(button);
}
