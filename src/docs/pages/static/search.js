// @ts-check
// Shows the entries that contain every search word. The words are in the URL, so that a search can be shared.

const words = /** @type {HTMLInputElement} */ (document.getElementById('words'));
const count = /** @type {HTMLElement} */ (document.querySelector('[role=status]'));
const items = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.found li')]);
const texts = items.map(({ textContent }) => (textContent ?? '').toLowerCase());

function show() {
  const sought = words.value.toLowerCase().split(/\s+/);
  for (const [at, item] of items.entries()) item.hidden = !sought.every((word) => texts[at]?.includes(word));
  count.textContent = `${items.filter(({ hidden }) => !hidden).length} of ${items.length}`;
}

function read() {
  words.value = new URLSearchParams(location.hash.slice(1)).get('q') ?? '';
  show();
}

words.addEventListener('input', () => {
  history.replaceState(null, '', `#${new URLSearchParams({ q: words.value })}`);
  show();
});
addEventListener('hashchange', read);
read();
words.focus();
