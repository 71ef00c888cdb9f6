// @ts-check
// Shows numbers of answers as they came. The Swagger UI reads JSON by JSON.parse(), whose numbers are doubles: of 9223372036854775807
// it would show 9223372036854776000. What "Try it out" sends is the text that was typed.

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const INDENT = '  ';

/**
 * JSON text, indented as JSON.stringify() indents it, every token as it was. Throws a SyntaxError for what is no JSON.
 * @param {string} text
 */
export function indented(text) {
  JSON.parse(text);
  const parts = [];
  let depth = 0;
  let before = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']';
    if (closes) depth -= 1;
    const isEmpty = closes && (before === '{' || before === '[');
    const isFirst = before === '{' || before === '[';
    if (!isEmpty && (closes || isFirst || before === ',')) parts.push('\n', INDENT.repeat(depth));
    parts.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    before = token;
  }
  return parts.join('');
}

/** Plugin of the Swagger UI: the body of an answer, if it is JSON, with its numbers as they came. */
export function exactJson({ React: { createElement } }) {
  return {
    wrapComponents: {
      responseBody: (Original, system) =>
        function ResponseBody(props) {
          const { content, contentType } = props;
          const text =
            /json/i.test(contentType ?? '') && typeof content === 'string' ? tried(content) : undefined;
          if (text === undefined) return createElement(Original, props);
          const HighlightCode = system.getComponent('HighlightCode', true);
          return createElement(
            'div',
            null,
            createElement('h5', null, 'Response body'),
            createElement(
              HighlightCode,
              { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true },
              text,
            ),
          );
        },
    },
  };
}

function tried(text) {
  try {
    return indented(text);
  } catch {
    return undefined;
  }
}
