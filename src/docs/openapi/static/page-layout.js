// @ts-check
// What stands on the page around the operations. Unlike the library's own layout it leaves `main` to the page, shows the prose at the
// head of a document as sections that open when asked for, and tells headers that every response has once.

/** The section of these headers, to which each response leads. */
export const COMMON_HEADERS = 'headers-of-every-response';

/** The headers that every response has, by name: the document marks them; those that are not required are variants of them. */
export function commonHeaders({ specSelectors }) {
  const headers = specSelectors.specJson().getIn(['components', 'headers']);
  return new Map(headers?.filter((one) => one.get('x-on-every-response') && one.get('required')));
}

/** Plugin of the Swagger UI. */
export function pageLayout({ React: { createElement: h } }) {
  const section = (title, content, props) =>
    h('details', props, h('summary', null, h('h2', null, title)), content);

  function CommonHeaders(system) {
    const rows = [...commonHeaders(system)].flatMap(([name, header]) => [
      h('dt', { key: name }, h('code', null, name)),
      h(
        'dd',
        { key: `${name}-text` },
        `${header.get('description')}. Example: `,
        h('code', null, String(header.get('example'))),
      ),
    ]);
    if (rows.length === 0) return null;
    return section('Headers of every response', h('dl', null, rows), { id: COMMON_HEADERS });
  }

  function PageLayout({ specSelectors, getComponent }) {
    const part = (name) => h(getComponent(name, true));
    if (!specSelectors.specStr()) return h('div', { className: 'swagger-ui wrapper' }, part('errors'));
    return h(
      'div',
      { className: 'swagger-ui wrapper' },
      part('SvgAssets'),
      part('errors'),
      part('InfoContainer'),
      part('CommonHeaders'),
      h(
        'div',
        { className: 'servers-and-key' },
        specSelectors.servers()?.size ? part('ServersContainer') : null,
        specSelectors.securityDefinitions() ? part('AuthorizeBtnContainer') : null,
      ),
      part('operations'),
      part('Models'),
    );
  }

  const Markdown = (Original, { specSelectors }) =>
    function FoldedMarkdown(props) {
      const { source } = props;
      if (!source || source !== specSelectors.info()?.get('description')) return h(Original, props);
      const [head, ...sections] = source.split(/^## /m);
      const shown = sections.map((text) => {
        const [title = '', ...lines] = text.split('\n');
        return section(title, h(Original, { source: lines.join('\n') }), { key: title });
      });
      return h('div', { className: 'folded-prose' }, h(Original, { source: head }), shown);
    };

  return { components: { PageLayout, CommonHeaders }, wrapComponents: { Markdown } };
}
