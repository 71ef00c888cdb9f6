import { STATUS_CODES } from 'node:http';
import { MAX_DETAILS } from '../../core/errors/api-error.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { ERRORS_PATH } from '../../core/errors/help-link.js';
import { escapeHtml, escapeWithCode } from './html.js';
import { COMMANDS, type PageContent, contentsOf } from './layout.js';

const EXAMPLE = JSON.stringify(exampleOf(HTTP_ERRORS.route_not_found));

/** The page that explains these errors, by status and code, each with its code as anchor. */
export function errorsPage(rows: readonly ErrorRow[]): PageContent {
  const statuses = [...new Set(rows.map(({ status }) => status))].toSorted((a, b) => a - b);
  const ofStatus = (status: number) =>
    rows.filter((row) => row.status === status).toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const lists = statuses.map(
    (status) =>
      `<h3>${nameOf(status)}</h3><ul>${ofStatus(status)
        .map(({ code }) => `<li><a href="#${code}"><code>${code}</code></a></li>`)
        .join('')}</ul>`,
  );
  const sections = statuses.map(
    (status) => `<h2 id="${status}"><a class="anchor" href="#${status}">${nameOf(status)}</a></h2>
${ofStatus(status).map(sectionOf).join('\n')}`,
  );
  return {
    title: 'Errors',
    path: ERRORS_PATH,
    main: `  <main class="text" id="main" tabindex="-1">
    ${contentsOf('Codes', lists.join(''))}
    <article class="prose">
      <h1>Errors</h1>
      <p>Every error response has this body, with <code>Content-Type: application/json</code>, and a <code>Link</code> with
        <code>rel="help"</code> to its explanation on this page:</p>
      <pre tabindex="0"><code>${escapeHtml(EXAMPLE)}</code></pre>
      <p><code>code</code> is stable and meant for programs, <code>message</code> for people. With
        <a href="#validation_failed"><code>validation_failed</code></a>, the body contains <code>details</code>, with an entry for each
        error: <code>field</code>, <code>code</code> and <code>message</code>. If a request has more than ${MAX_DETAILS} errors, the last of
        ${MAX_DETAILS} entries states the number of further errors.</p>
${sections.join('\n')}
    </article>
  </main>`,
    scripts: [COMMANDS],
  };
}

function exampleOf({ code, message, status }: ErrorRow): object {
  return { code, message, status };
}

function nameOf(status: number): string {
  return escapeHtml(`${status} ${STATUS_CODES[status] ?? ''}`.trim());
}

function sectionOf({ code, message, cause, remedy }: ErrorRow): string {
  return `<section class="error" id="${code}" aria-labelledby="${code}-name">
  <h3 id="${code}-name"><a class="anchor" href="#${code}">${code}</a></h3>
  <p class="message">${escapeWithCode(message)}</p>
  <dl><dt>Cause</dt><dd>${escapeWithCode(cause)}</dd><dt>Remedy</dt><dd>${escapeWithCode(remedy)}</dd></dl>
</section>`;
}
