// @ts-check
// Shows the entries that contain every search word. The words are in the URL, so that a search can be shared.

const input = /** @type {HTMLInputElement} */ (document.getElementById('words'));
const count = /** @type {HTMLElement} */ (document.querySelector('[role=status]'));
const items = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.found li')]);
const texts = items.map(({ textContent }) => (textContent ?? '').toLowerCase());

function show() {
  const sought = input.value.toLowerCase().split(/\s+/);
  for (const [at, item] of items.entries()) item.hidden = !sought.every((word) => texts[at]?.includes(word));
  count.textContent = `${items.filter(({ hidden }) => !hidden).length} of ${items.length}`;
}

function read() {
  input.value = new URLSearchParams(location.hash.slice(1)).get('q') ?? '';
  show();
}

input.addEventListener('input', () => {
  history.replaceState(null, '', `#${new URLSearchParams({ q: input.value })}`);
  show();
});
addEventListener('hashchange', read);
read();
input.focus();
