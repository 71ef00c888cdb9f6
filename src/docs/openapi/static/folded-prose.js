// @ts-check
// Shows the prose at the head of a document as a list of its sections, each open when asked for, so that the operations are near.

/** The part of the prose before its first heading, and its sections by their headings. */
function sectionsOf(prose) {
  const [head = '', ...sections] = prose.split(/^## /m);
  return {
    head,
    sections: sections.map((section) => {
      const end = section.indexOf('\n');
      return { title: section.slice(0, end).trim(), text: section.slice(end).trim() };
    }),
  };
}

/** Plugin of the Swagger UI. */
export function foldedProse({ React: { createElement } }) {
  return {
    wrapComponents: {
      Markdown: (Original, system) =>
        function Markdown(props) {
          const { source } = props;
          if (!source || source !== system.specSelectors.info()?.get('description'))
            return createElement(Original, props);
          const { head, sections } = sectionsOf(source);
          return createElement(
            'div',
            { className: 'folded-prose' },
            createElement(Original, { ...props, source: head }),
            sections.map(({ title, text }) =>
              createElement(
                'details',
                { key: title },
                createElement('summary', null, createElement('h2', null, title)),
                createElement(Original, { ...props, source: text }),
              ),
            ),
          );
        },
    },
  };
}
