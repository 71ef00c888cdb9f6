// @ts-check
// What a list of operations tells: when a deprecated one goes, and refusals by their codes, each open when asked for.

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** What stands beside the path of a deprecated operation. */
function endOf(operation) {
  const sunset = operation?.get('x-sunset');
  if (!sunset) return 'deprecated';
  const date = DATE.format(new Date(sunset));
  return operation.get('x-removed') ? `removed on ${date}` : `deprecated, will be removed on ${date}`;
}

/** The codes of a refusal, which are the names of its examples. */
function codesOf(response) {
  const examples = response.getIn(['content', 'application/json', 'examples']);
  return examples ? [...examples.keys()] : [];
}

/** Plugin of the Swagger UI. */
export function operations({ React: { createElement, Fragment, useId, useState } }) {
  return {
    wrapComponents: {
      OperationSummaryPath: (Original, system) =>
        function OperationSummaryPath(props) {
          const { operationProps } = props;
          // The library puts a link into the button that opens the operation: two controls in one, for a keyboard. The address of an
          // open operation stands in the address bar all the same.
          const path = createElement(Original, {
            ...props,
            operationProps: operationProps.set('isDeepLinkingEnabled', false),
          });
          if (!operationProps.get('deprecated')) return path;
          const operation = system.specSelectors
            .specJson()
            .getIn(['paths', operationProps.get('path'), operationProps.get('method')]);
          return createElement(
            Fragment,
            null,
            path,
            createElement('span', { className: 'end-of-operation' }, endOf(operation)),
          );
        },
      response: (Original) =>
        function Response(props) {
          const { code, response } = props;
          const [isOpen, setOpen] = useState(false);
          const id = useId();
          const codes = codesOf(response);
          if (Number(code) < 400) return createElement(Original, props);
          const label =
            codes.length > 0
              ? codes.map((name) => createElement('code', { key: name }, name))
              : createElement('span', null, response.get('description'));
          return createElement(
            Fragment,
            null,
            createElement(
              'tr',
              { className: 'refusal' },
              createElement('td', { className: 'response-col_status' }, code),
              createElement(
                'td',
                { colSpan: 2 },
                createElement(
                  'button',
                  { type: 'button', id, 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
                  label,
                ),
              ),
            ),
            isOpen ? createElement(Original, props) : null,
          );
        },
    },
  };
}
