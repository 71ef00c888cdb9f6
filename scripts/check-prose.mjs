// Reports phrases that are not idiomatic English, each with a replacement, in the documentation and in the source code of the platform.
// Modules that a team adds are not checked. Part of `npm run lint`.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import importRules from '../.dependency-cruiser.cjs';

/** Phrases, in any case, and their replacements. List only phrases that no correct sentence needs. */
const PHRASES = [
  [/\bthe own\b/, 'its own …, the caller’s …'],
  [/\b(?:integer|number)s? of 64 bits\b/, '64-bit integer'],
  [/\bwords of petstore\b/, 'commands of petstore'],
  [/\bfile rights\b/, 'file permissions'],
  [/\bmarker files?\b/, 'lock file'],
  [/\bfor ever\b/, 'forever'],
  [/\b(?:has|have) not (?:the|an?)\b/, 'does not have'],
  [/(?<!there )\b(?:is|are|was|were) none\b/, 'does not exist'],
  [/(?<!there )\b(?:is|was) no (?:URL|JSON|integer|number|class|method|table)\b/, 'is not a …'],
  [/\bis called so\b/, 'has that name'],
  [/\bworks? no more\b/, 'no longer works'],
  [/\b(?:is|are) sent (?:nothing|messages)\b/, 'receives'],
  [/\banswered with (?:an?|the|50\d|4\d\d)\b/, 'gets, responds with'],
  [/\bnobody ordered\b/, 'not requested'],
];

/** Markdown without code blocks and inline code. Line numbers are preserved. */
function proseOf(text) {
  const blank = (code) => code.replaceAll(/[^\n]/g, '');
  return text.replaceAll(/```[^]*?```/g, blank).replaceAll(/`[^`]*`/g, (code) => `_${blank(code)}`);
}

/** The files below a folder whose names match; empty if a team has removed the folder. */
function filesIn(folder, name) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((file) => name.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

/** Matches the platform's folders in src, as the import rules list them. */
const platform = new RegExp(
  importRules.forbidden.find(({ name }) => name === 'platform-does-not-import-public-ts').from.path,
);
const files = [
  'README.md',
  'CONTRIBUTING.md',
  ...['docs', 'examples', 'clients'].flatMap((folder) => filesIn(folder, /\.md$/)),
  ...filesIn('src', /(?<!\.spec)\.[jt]s$/).filter((file) => platform.test(file.replaceAll('\\', '/'))),
].filter((file) => existsSync(file));

const problems = files.flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  return (file.endsWith('.md') ? proseOf(text) : text).split('\n').flatMap((line, index) =>
    PHRASES.flatMap(([phrase, instead]) => {
      const found = new RegExp(phrase, 'i').exec(line);
      return found ? [`${file}:${index + 1}: "${found[0].trim()}": write ${instead}`] : [];
    }),
  );
});
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
