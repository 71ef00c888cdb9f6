// @ts-check
// A separate script that runs before the first paint, so that the chosen colour scheme does not flicker.
document.documentElement.dataset.theme = localStorage.getItem('petstore-theme') ?? 'system';
