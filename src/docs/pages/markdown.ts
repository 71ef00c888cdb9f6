import type { Tokens } from 'marked';
import { escapeHtml } from './html.js';

/** One heading of a text, for its table of contents. */
export interface Heading {
  readonly id: string;
  /** As HTML. */
  readonly text: string;
}

/** A text of Markdown as HTML. */
export interface Rendered {
  /** Of the first heading, without markup. */
  readonly title: string;
  readonly html: string;
  /** The headings of the second level. */
  readonly headings: readonly Heading[];
}

/**
 * Renders Markdown. Each heading is an anchor, with the name that GitHub gives it; HTML in the text is shown as text. `addressOf`
 * says where a link leads: undefined for what readers of the page cannot reach, of which the words are left.
 */
export async function renderMarkdown(
  markdown: string,
  addressOf: (href: string) => string | undefined,
): Promise<Rendered> {
  // Loaded with the first page, not with the service.
  const { Marked } = await import('marked');
  const headings: Heading[] = [];
  const taken = new Map<string, number>();
  let title = '';
  const idOf = (text: string): string => {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-');
    const before = taken.get(slug) ?? 0;
    taken.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  };
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text: source }: Tokens.Heading): string {
        const text = this.parser.parseInline(tokens);
        const words = this.parser.parseInline(tokens, this.parser.textRenderer);
        const id = escapeHtml(idOf(source.replaceAll('`', '')));
        if (depth === 1) title ||= words;
        if (depth === 1) return `<h1 id="${id}">${text}</h1>\n`;
        if (depth === 2) headings.push({ id, text });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${text}</a></h${depth}>\n`;
      },
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      link({ href, tokens }: Tokens.Link): string {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(href);
        return address === undefined ? text : `<a href="${escapeHtml(address)}">${text}</a>`;
      },
      // Nothing is loaded from elsewhere, and the guides have no pictures of their own.
      image: ({ text }: Tokens.Image) => escapeHtml(text),
      code: ({ text }: Tokens.Code) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
    },
    hooks: {
      // A table scrolls by itself where the window is narrower.
      postprocess: (html: string) =>
        html
          .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>'),
    },
  });
  const html = await marked.parse(markdown);
  return { title, html, headings };
}
