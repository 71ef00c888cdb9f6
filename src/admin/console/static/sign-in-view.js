// @ts-check
import { Refusal, ask, isHolder } from './admin-api.js';
import { el, put } from './elements.js';
import { keepKey, takeReason } from './session.js';

const OPERATORS = {
  lead: 'Clients, keys, webhooks, usage and the audit trail of this service.',
  label: 'Admin key',
  note: 'An API key with the scope admin, or admin:read to look only.',
};
const HOLDERS = {
  lead: 'Your plan, what you have used of it, your keys and webhooks.',
  label: 'API key',
  note: 'Any API key that the operator of this service has given you; with the scope account it can change keys and webhooks.',
};

/**
 * Asks for a key, and tries it before it is kept.
 * @param {Element} main
 * @param {() => void} signedIn
 */
export function showSignIn(main, signedIn) {
  const field = el('input', {
    id: 'key',
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'off',
    'aria-describedby': 'key-note key-fault',
  });
  const fault = el('p', { id: 'key-fault', class: 'fault', role: 'alert' }, takeReason());
  const button = el('button', { class: 'primary' }, 'Sign in');
  const form = el(
    'form',
    { class: 'card sign-in' },
    el('h1', {}, 'Sign in'),
    el('p', { class: 'lead' }, isHolder ? HOLDERS.lead : OPERATORS.lead),
    fault,
    el('label', { for: 'key' }, isHolder ? HOLDERS.label : OPERATORS.label),
    field,
    el(
      'p',
      { id: 'key-note', class: 'note' },
      isHolder ? HOLDERS.note : OPERATORS.note,
      ' It stays in this tab: closing the tab or signing out forgets it.',
    ),
    button,
    !isHolder &&
      el(
        'details',
        { class: 'note' },
        el('summary', {}, 'Where do I get one?'),
        el('p', {}, 'On the machine of the service:'),
        el(
          'pre',
          { tabindex: '0' },
          'npx petstore key issue --client <id> --scopes admin,pets:read,pets:write --expires 8h',
        ),
      ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void tryKey();
  });

  async function tryKey() {
    const key = field.value.trim();
    button.disabled = true;
    put(fault);
    try {
      if (!/^[\x21-\x7e]+$/.test(key)) throw new Refusal(0, 'invalid_api_key', 'This is no API key.');
      await ask('GET', isHolder ? '../account' : 'clients?limit=1', { key });
      keepKey(key);
      field.value = '';
      signedIn();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const hint =
        error.code === 'insufficient_scope'
          ? ' This key works, but lacks the scope admin or admin:read.'
          : '';
      put(fault, `${error.message}${hint} (${error.code})`);
      field.select();
      field.focus();
    } finally {
      button.disabled = false;
    }
  }

  put(main, form);
  field.focus();
}
