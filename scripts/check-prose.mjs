// Refuses turns of phrase that read as if translated, each with what to write instead, in the documents and in the source code of the
// platform's folders. A module of a team is not checked. Part of `npm run lint`.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import walls from '../.dependency-cruiser.cjs';

/** What is refused, whatever the case, and what to write instead. Only what no sentence needs belongs here. */
const TURNS = [
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

/** Markdown with its lines, without code blocks and code in sentences. */
function proseOf(text) {
  const blank = (code) => code.replaceAll(/[^\n]/g, '');
  return text.replaceAll(/```[^]*?```/g, blank).replaceAll(/`[^`]*`/g, (code) => `_${blank(code)}`);
}

/** The files below a folder with such names; none where a team has removed the folder. */
function filesIn(folder, name) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((file) => name.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

/** The platform's folders below src, as the walls have them. */
const platform = new RegExp(
  walls.forbidden.find(({ name }) => name === 'the-service-by-name-is-for-features').from.path,
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
    TURNS.flatMap(([turn, instead]) => {
      const found = new RegExp(turn, 'i').exec(line);
      return found ? [`${file}:${index + 1}: "${found[0].trim()}": write ${instead}`] : [];
    }),
  );
});
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
