import type { DeclaredSettings } from '../src/core/config/define-settings.js';

/** .env.example: every setting with its description, what is allowed, and its default, or the example of a required one. */
export function envExample(all: readonly DeclaredSettings[]): string;
