/** The list of what stands on a page, as a landmark of it; on a narrow screen it is open when asked for. */
export function contentsOf(title: string, list: string): string {
  return `<nav class="contents" aria-label="${title}"><details><summary>${title}</summary>${list}</details></nav>`;
}
