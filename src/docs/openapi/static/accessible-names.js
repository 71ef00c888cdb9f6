// @ts-check
// Adds accessible names and keyboard support that the Swagger UI lacks.

/** Names of controls that have none, by selector. */
const NAMES = [
  ['.servers', 'Server'],
  ['.examples-select', 'Example'],
  ['.body-param', 'Request body'],
];

function mend(root) {
  for (const control of root.querySelectorAll(
    ':is(select, textarea, input):not([aria-label], [type=checkbox])',
  )) {
    const parameter = control.closest('tr[data-param-name]');
    const name = parameter?.dataset.paramName ?? NAMES.find(([place]) => control.closest(place))?.[1];
    if (name !== undefined) control.setAttribute('aria-label', name);
  }
  // Voice control needs the visible text, which differs from the accessible name.
  for (const button of root.querySelectorAll('.modal-btn[aria-label]')) button.removeAttribute('aria-label');
  for (const block of root.querySelectorAll('pre:not([tabindex])')) block.tabIndex = 0;
  for (const heading of root.querySelectorAll('h6')) heading.ariaLevel = '5';
}

/** Names existing controls, and those that the library adds later. */
export function nameControls(root) {
  new MutationObserver(() => mend(root)).observe(root, { childList: true, subtree: true });
}
