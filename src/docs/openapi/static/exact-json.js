// @ts-check
// Shows numbers in responses exactly, because the library's JSON.parse() turns 9223372036854775807 into 9223372036854776000.
// "Try it out" sends the text as typed.

/**
 * Indents JSON text without changing its numbers; returns the text unchanged if it is not JSON or the browser does not support exact numbers.
 * @param {string} text
 */
export function indented(text) {
  const { rawJSON } = /** @type {any} */ (JSON);
  const exact = (_, value, context) => (typeof value === 'number' ? rawJSON(context.source) : value);
  try {
    return rawJSON ? JSON.stringify(JSON.parse(text, /** @type {any} */ (exact)), null, 2) : text;
  } catch {
    return text;
  }
}

/** Plugin of the Swagger UI. */
export function exactJson({ React: { createElement: h } }) {
  return {
    wrapComponents: {
      responseBody: (Original, { getComponent }) =>
        function ResponseBody(props) {
          const { content, contentType } = props;
          if (!/json/i.test(contentType) || typeof content !== 'string') return h(Original, props);
          const code = { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true };
          return h(
            'div',
            null,
            h('h5', null, 'Response body'),
            h(getComponent('HighlightCode', true), code, indented(content)),
          );
        },
    },
  };
}
