// @ts-check
// Tells headers that every response of the document has once on the page, instead of at each response. The document itself stays as
// it is. Nothing here names a header: the document marks them.

/** The section that tells them, to which each response leads. */
const SECTION = 'headers-of-every-response';

/** The headers that every response has, by name, as the document describes them; those that are not required are variants of them. */
function headersOfAll(system) {
  const headers = system.specSelectors.specJson().getIn(['components', 'headers']);
  return new Map(headers?.filter((one) => one.get('x-on-every-response') && one.get('required')));
}

function showSection() {
  const section = document.getElementById(SECTION);
  if (!(section instanceof HTMLDetailsElement)) return;
  section.open = true;
  section.scrollIntoView({ block: 'center' });
  section.querySelector('summary')?.focus({ preventScroll: true });
}

/** Plugin of the Swagger UI. */
export function responseHeaders({ React: { createElement } }) {
  return {
    wrapComponents: {
      headers: (Original, system) =>
        function Headers(props) {
          const common = headersOfAll(system);
          const { headers } = props;
          const own = headers?.filterNot((_, name) => common.has(name));
          if (!headers || own.size === headers.size) return createElement(Original, props);
          const link = createElement(
            'button',
            { type: 'button', className: 'as-link', onClick: showSection },
            'the headers of every response',
          );
          return createElement(
            'div',
            null,
            own.size > 0 ? createElement(Original, { ...props, headers: own }) : null,
            createElement('p', { className: 'told-once' }, own.size > 0 ? 'And ' : 'With ', link, '.'),
          );
        },
      InfoContainer: (Original, system) =>
        function InfoContainer(props) {
          const rows = [...headersOfAll(system)].map(([name, header]) => [
            createElement('dt', { key: name }, createElement('code', null, name)),
            createElement(
              'dd',
              { key: `${name}-text` },
              `${header.get('description')}. Example: `,
              createElement('code', null, String(header.get('example'))),
            ),
          ]);
          if (rows.length === 0) return createElement(Original, props);
          return createElement(
            'div',
            null,
            createElement(Original, props),
            createElement(
              'details',
              { id: SECTION, className: 'wrapper' },
              createElement('summary', null, 'Headers of every response'),
              createElement('dl', null, rows),
            ),
          );
        },
    },
  };
}
