// @ts-check
// The page around the operations. Unlike the library's own layout, it leaves `main` to the page and shows the introduction of a
// document as collapsible sections.

/** Plugin of the Swagger UI. */
export function pageLayout({ React: { createElement: h } }) {
  function PageLayout({ specSelectors, getComponent }) {
    const part = (name) => h(getComponent(name, true));
    if (!specSelectors.specStr()) return h('div', { className: 'swagger-ui wrapper' }, part('errors'));
    return h(
      'div',
      { className: 'swagger-ui wrapper' },
      part('SvgAssets'),
      part('errors'),
      part('InfoContainer'),
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
        const summary = h('summary', null, h('h2', null, title));
        return h('details', { key: title }, summary, h(Original, { source: lines.join('\n') }));
      });
      return h('div', { className: 'folded-prose' }, h(Original, { source: head }), shown);
    };

  return { components: { PageLayout }, wrapComponents: { Markdown } };
}
