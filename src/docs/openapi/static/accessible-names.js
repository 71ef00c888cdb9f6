// @ts-check
// Gives the controls of the Swagger UI that have no name one, and lets the keyboard scroll what scrolls.

/** What a control is for that the library leaves without a name, by where it stands. */
const NAMES = [
  ['.servers', 'Server'],
  ['.examples-select', 'Example'],
  ['.body-param-content-type', 'Media type of the body'],
  ['.content-type-wrapper', 'Media type'],
  ['.body-param', 'Request body'],
  ['.auth-container', 'API key'],
];

function nameOf(control) {
  const parameter = control.closest('tr[data-param-name]');
  if (parameter) return parameter.dataset.paramName;
  return NAMES.find(([place]) => control.closest(place))?.[1];
}

function mend(root) {
  for (const control of root.querySelectorAll('select, textarea, input')) {
    if (control.hasAttribute('aria-label') || control.type === 'checkbox') continue;
    const name = nameOf(control);
    if (name !== undefined) control.setAttribute('aria-label', name);
  }
  for (const block of root.querySelectorAll('pre:not([tabindex])'))
    if (block.closest('.highlight-code, .opblock-body, .markdown, .renderedMarkdown')) block.tabIndex = 0;
}

/** Mends what is there, and what the library adds later. */
export function nameControls(root) {
  let isPlanned = false;
  const observer = new MutationObserver(() => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      mend(root);
    });
  });
  observer.observe(root, { childList: true, subtree: true });
  mend(root);
}
