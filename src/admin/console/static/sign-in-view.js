// @ts-check
import { Refusal, isHolder, request } from './admin-api.js';
import { el, replaceContent } from './elements.js';
import { keepKey, takeReason } from './session.js';

const [LEAD, LABEL, NOTE] = isHolder
  ? [
      'Your plan and its usage, your keys and webhooks.',
      'API key',
      'Any API key from the operator of this service. With the scope account, it can change keys and webhooks.',
    ]
  : [
      'Clients, keys, webhooks, usage and the audit trail of this service.',
      'Admin key',
      'An API key with the scope admin, or admin:read to only read.',
    ];

/**
 * Asks for a key, and verifies it before storing it.
 * @param {Element} main
 * @param {() => void} signedIn
 */
export function showSignIn(main, signedIn) {
  const plain = { autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off' };
  const described = { 'aria-describedby': 'key-note key-error' };
  const field = el('input', { id: 'key', type: 'password', required: true, ...plain, ...described });
  const errorLine = el('p.error', { id: 'key-error', role: 'alert' }, takeReason());
  const button = el('button.primary', 'Sign in');
  const scopes = document.getElementById('main')?.dataset.scopes;
  const command = `npx petstore client create --name Operators --plan business --issue-key --scopes ${scopes}`;
  const form = el(
    'form.card.sign-in',
    el('h1', 'Sign in'),
    el('p.lead', LEAD),
    errorLine,
    el('label', { for: 'key' }, LABEL),
    field,
    el(
      'p.note',
      { id: 'key-note' },
      NOTE,
      ' It is stored only in this tab, until you close the tab or sign out.',
    ),
    button,
    !isHolder &&
      el(
        'details.note',
        el('summary', 'Where do I get a key?'),
        el('p', 'On the machine of the service:'),
        el('pre', { tabindex: '0' }, command),
      ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void tryKey();
  });

  async function tryKey() {
    const key = field.value.trim();
    button.disabled = true;
    replaceContent(errorLine);
    try {
      if (!/^[\x21-\x7e]+$/.test(key)) throw new Refusal(0, 'invalid_api_key', 'This is not an API key.');
      await request('GET', isHolder ? '../account' : 'clients?limit=1', { key });
      keepKey(key);
      field.value = '';
      signedIn();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const hint =
        error.code === 'insufficient_scope' ? ' This key lacks the scope admin or admin:read.' : '';
      replaceContent(errorLine, `${error.message}${hint} (${error.code})`);
      field.select();
      field.focus();
    } finally {
      button.disabled = false;
    }
  }

  replaceContent(main, form);
  field.focus();
}
