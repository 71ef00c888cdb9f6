// @ts-check
// Keeps the key that Authorize was given in this tab alone: it survives a reload and a change of the document, and is gone with the
// tab. The Swagger UI's own persistAuthorization would leave it in the browser for everyone who uses it later.

const PLACE = 'petstore-docs-key';

/** Plugin of the Swagger UI. */
export function keptKey() {
  const keep = (system) =>
    sessionStorage.setItem(PLACE, JSON.stringify(system.authSelectors.authorized()?.toJS() ?? {}));
  const kept = (original, system) => (payload) => {
    const result = original(payload);
    keep(system);
    return result;
  };
  return {
    statePlugins: {
      auth: { wrapActions: { authorizeWithPersistOption: kept, logoutWithPersistOption: kept } },
    },
  };
}

/**
 * Gives a Swagger UI the key that the tab keeps, and removes what an earlier version of this page has left in the browser.
 */
export function restoreKey(ui) {
  localStorage.removeItem('authorized');
  const kept = sessionStorage.getItem(PLACE);
  if (kept !== null) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
}
