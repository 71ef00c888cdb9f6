// @ts-check
// Tells headers that every response of the document has once on the page, instead of at each response. The document itself stays as
// it is. Nothing here names a header: which they are is read from the document, which marks them or lists them at every response.

/** The section that tells them, to which each response leads. */
const SECTION = 'headers-of-every-response';

/** The extension by which a document marks a header of every response; without marks, those count that every response lists. */
const EVERYWHERE = 'x-on-every-response';

let known;

/** The headers that every documented response has, by name, as the document describes them. */
function headersOfAll(system) {
  const document = system.specSelectors.specJson();
  if (known?.document === document) return known.headers;
  const responses = [...document.get('paths', new Map()).values()]
    .flatMap((path) => [...path.values()])
    .flatMap((operation) => [...(operation?.get?.('responses')?.values() ?? [])])
    .map((response) => response.get('headers'));
  const listed = new Map();
  for (const [name, header] of responses.flatMap((ofOne) => [...(ofOne ?? [])]))
    if (!listed.has(name)) listed.set(name, resolved(document, header));
  const marked = [...listed].filter(([, header]) => header.get(EVERYWHERE) === true);
  const everywhere = [...listed].filter(([name]) => responses.every((ofOne) => ofOne?.has(name)));
  const headers = new Map(marked.length > 0 ? marked : everywhere);
  known = { document, headers };
  return headers;
}

function resolved(document, header) {
  const reference = header.get('$ref');
  return reference === undefined ? header : document.getIn(reference.slice('#/'.length).split('/'));
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
