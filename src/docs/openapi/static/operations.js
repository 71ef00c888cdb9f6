// @ts-check
// The list of operations: shows when a deprecated one will be removed, and collapsible error responses by code.

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** The text next to the path of a deprecated operation. */
function endOf(operation) {
  const sunset = operation?.get('x-sunset');
  if (!sunset) return 'deprecated';
  const date = DATE.format(new Date(sunset));
  return operation.get('x-removed') ? `removed on ${date}` : `deprecated, will be removed on ${date}`;
}

/** Plugin of the Swagger UI. */
export function operations({ React: { createElement: h, Fragment, useState } }) {
  const OperationSummaryPath = (Original, { specSelectors }) =>
    function SummaryPath(props) {
      // The library nests a link in the button that opens the operation, which keyboards cannot handle. The URL of an open operation is
      // in the address bar anyway.
      const operationProps = props.operationProps.set('isDeepLinkingEnabled', false);
      const path = h(Original, { ...props, operationProps });
      if (!operationProps.get('deprecated')) return path;
      const keys = ['paths', operationProps.get('path'), operationProps.get('method')];
      const end = endOf(specSelectors.specJson().getIn(keys));
      return h(Fragment, null, path, h('span', { className: 'badge warn' }, end));
    };

  // The names of an error response's examples are its codes.
  const foldedRefusal = (Original) =>
    function FoldedRefusal(props) {
      const { code, response } = props;
      const [isOpen, setOpen] = useState(false);
      if (Number(code) < 400) return h(Original, props);
      const examples = response.getIn(['content', 'application/json', 'examples']);
      const codes = [...(examples?.keys() ?? [])].map((name) => h('code', { key: name }, name));
      const button = { type: 'button', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) };
      const label = codes.length > 0 ? codes : h('span', null, response.get('description'));
      const row = h(
        'tr',
        { className: 'refusal' },
        h('td', { className: 'response-col_status' }, code),
        h('td', { colSpan: 2 }, h('button', button, label)),
      );
      return h(Fragment, null, row, isOpen ? h(Original, props) : null);
    };

  return { wrapComponents: { OperationSummaryPath, response: foldedRefusal } };
}
