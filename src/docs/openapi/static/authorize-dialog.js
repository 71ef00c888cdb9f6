// @ts-check
// Authorize as a native modal dialog, which traps and restores the focus. The key is stored only in this tab, where it survives reloads
// and other documents. The library's persistAuthorization would leave it for the next user of the browser.

const STORAGE_KEY = 'petstore-docs-key';

/** Plugin of the Swagger UI. */
export function authorizeDialog({ React: { createElement: h, useLayoutEffect, useRef, useState } }) {
  function KeyInput(props) {
    const [isShown, setShown] = useState(false);
    const show = { type: 'button', className: 'btn', 'aria-pressed': isShown };
    return h(
      'span',
      { className: 'key-input' },
      h('input', {
        ...props,
        'aria-label': undefined,
        type: isShown ? 'text' : 'password',
        autoComplete: 'off',
      }),
      h('button', { ...show, onClick: () => setShown(!isShown) }, 'Show'),
    );
  }

  function AuthorizationPopup({ authActions, authSelectors, errSelectors, specSelectors, getComponent }) {
    const shared = { authActions, authSelectors, errSelectors, specSelectors, getComponent };
    const dialog = useRef(null);
    useLayoutEffect(() => {
      const { current } = dialog;
      current.showModal();
      return () => current.close();
    }, []);
    // The field that had the focus is gone once its key is accepted.
    useLayoutEffect(() => {
      if (!dialog.current.contains(document.activeElement)) dialog.current.focus();
    });
    const attributes = { 'aria-labelledby': 'authorize-title', closedby: 'any', tabIndex: -1 };
    const groups = authSelectors.shownDefinitions().valueSeq().toArray();
    return h(
      'dialog',
      { ref: dialog, ...attributes, onClose: () => authActions.showDefinitions(false) },
      h('h3', { id: 'authorize-title' }, 'Authorize'),
      groups.map((definitions, key) => h(getComponent('auths'), { ...shared, key, definitions })),
    );
  }

  const storeKey =
    (original, { authSelectors }) =>
    (payload) => {
      original(payload);
      sessionStorage.setItem(STORAGE_KEY, JSON.stringify(authSelectors.authorized()));
    };
  return {
    components: { authorizationPopup: AuthorizationPopup },
    wrapComponents: {
      HttpAuth: (Original) => (props) => {
        const isKey = props.schema.get('scheme') === 'bearer';
        const getComponent = (name, ...rest) =>
          isKey && name === 'Input' ? KeyInput : props.getComponent(name, ...rest);
        return h(Original, { ...props, getComponent });
      },
    },
    statePlugins: {
      auth: { wrapActions: { authorizeWithPersistOption: storeKey, logoutWithPersistOption: storeKey } },
    },
  };
}

/** Gives a Swagger UI the key that the tab keeps. */
export function restoreKey(ui) {
  const stored = sessionStorage.getItem(STORAGE_KEY);
  if (stored !== null) ui.authActions.restoreAuthorization({ authorized: JSON.parse(stored) });
}
