// @ts-check
// A separate script that runs before the first paint, so that the page does not flash in the other color scheme.
document.documentElement.dataset.theme = localStorage.getItem('petstore-theme') ?? 'system';
