import type { DeclaredSettings } from '../src/core/config/define-settings.js';
import type { markdownTable } from '../src/core/markdown.js';

/** .env.example: every setting with its description, what is allowed, and its default, or the example of a required one. */
export function envExample(all: readonly DeclaredSettings[]): string;

/** The settings of the platform and of each feature, as tables that `tableOf` writes of rows of cells. */
export function settingsTables(all: readonly DeclaredSettings[], tableOf: typeof markdownTable): string;
