// Refuses turns of phrase that read as if translated, each with what to write instead: in the documentation, in the comments of code, and
// in what the service says to people. Code and addresses of links are left out. Part of `npm run lint`.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What is refused, whatever the case, and what to write instead. */
const TURNS = [
  [
    /\banswers (?:of|to|are|with|\d)|\b(?:an|the|its|each|every|no|stored|cached) answers?\b/,
    'response, respond',
  ],
  [/\b(?:is|are|was|were|be|being|been) told\b|\btells?\b/, 'says, shows, reports'],
  [/\bstands? (?!still)|\bstands?[,.;:]/, 'is, appears'],
  [/\b(?:is|are|was|were) none\b/, 'does not exist'],
  [/\bof (?:its|their|your|our|his) own\b/, 'its own …, a separate …'],
  [/\bof (?:yours|ours|theirs)\b/, 'your …, our …'],
  [/\bmeanwhile\b/, 'in the meantime, or nothing'],
  [/\bwhat (?:there is|there are|is there|is told|is answered|it has|there was)\b/, 'a noun'],
  [/\b(?:to|for|of|by|from) who\b|\bwho asks\b|\bwhoever\b/, 'a client that …, anyone who …'],
  [/(?<!read )\banew\b/, 'again'],
  [/\b(?:goes|go|went|going) on\b/, 'continues'],
  [/\bonce more\b/, 'again'],
  [/\b(?:is|are|was|were) away\b/, 'is unavailable, is down'],
  [/\bin (?:the )?place of\b/, 'instead of'],
  [/\b(?:is|are) void\b/, 'is invalid'],
  [/\bhave to bear\b|\bbears that\b/, 'tolerate'],
  [/\bby (?:it|them)\b/, 'name the subject'],
  [/\bhow far it\b/, 'progress, state'],
  [/\b(?:thereby|thereof|therein|whereof|wherein|whereby)\b/, 'a plain clause'],
  [/\bthe house\b/, 'the platform'],
  [/\blies (?:in|at|on|beside|outside|behind)\b/, 'is in'],
  [/\bintegers? of 64 bits\b|\bnumbers? of 64 bits\b/, '64-bit integer'],
  [/\brevalidation\b/, 'conditional request'],
  [/\bpaging (?:is|by|through|of)\b/, 'pagination'],
  [/\brepetitions?\b/, 'retry'],
  [/\bmark files?\b|\bmarker files?\b/, 'lock file'],
  [/\bfile rights\b|\brights on\b|\bwith the rights\b/, 'permissions'],
  [/\bthat there (?:is|are)\b/, 'existing …'],
  [/\bnothing is to\b|\bnothing has to be\b/, 'no … is needed'],
  [/\bthe own\b/, 'its, the caller’s'],
  [/\bfor ever\b/, 'forever'],
  [/\ball the same\b/, 'nevertheless'],
  [/\b(?:is|are|was|were) so already\b/, 'does nothing when nothing changes'],
  [/\bof before\b/, 'earlier'],
  [/\bwell again\b|\b(?:is|are) well(?!-)\b/, 'has recovered, works'],
  [/\bwithout a word\b/, 'without naming …'],
  [/\bhands? on\b|\bhanded on\b/, 'pass on'],
  [/\bdraws? out\b/, 'extend'],
  [/\bput down to\b/, 'attributed to'],
  [/\bput right\b|\bmend(?:s|ed|ing)?\b/, 'fix, correct'],
  [/\blooked at\b/, 'checked, read'],
  [/\bnobody knows\b/, 'is unknown'],
  [/\bsomebody\b/, 'someone'],
  [/\bhence\b|\bhitherto\b|\bthereupon\b/, 'therefore, so'],
  [/\bwhom\b/, 'name the subject'],
  [/\b(?:is|are) asked (?:for|again|by)\b|\b(?:is|are) asked[.,;:]/, 'requested, called, read'],
  [/\b(?:has|have) not (?:the|an?)\b/, 'does not have'],
  [/^\W*has (?:the|an?) \w+ (?:\w+ed|send|keep|show|continue|answer|told|made|kept)\b/, 'makes …, lets …'],
  [
    /(?<!there )\b(?:is|was) no (?:URL|key|file|strike|JSON|integer|number|class|method|server|proxy)\b/,
    'is not a …',
  ],
  [/\bis called so\b/, 'has that name'],
  [/\bcan tell (?:which|whether|how)\b/, 'can say, knows'],
  [/\btold (?:apart|anew|again)\b|\b(?:has|have|had) told\b/, 'distinguish; sent, reported'],
  [/\bin (?:truth|vain|short order)\b/, 'nothing'],
  [/\bturns? away\b|\bturned away\b/, 'refuse'],
  [/\bthe like\b/, 'similar …'],
  [/\b(?:sooner|earlier) or later\b/, 'eventually'],
  [/\bstrangers?\b/, 'callers without a key'],
  [/\bwords of petstore\b/, 'commands of petstore'],
  [/\bspeaks? of\b/, 'describes, names'],
  [/\bit is as if\b/, 'works as if'],
  [/\bbe it\b/, 'whether'],
  [/\bwhat (?:came|became) of\b/, 'the outcome of, the state of'],
  [/\bthis once\b/, 'only once'],
  [/\bis sent (?:nothing|messages|each)\b/, 'receives'],
  [/\b(?:is|are|was|were) not there\b|\bis there (?:already|yet|any more)\b/, 'exists, does not exist'],
  [/\bput off\b/, 'postpone'],
  [/\bordering key\b|\bkey that orders\b/, 'the sending key'],
  [/\borders? (?:a |your own )?(?:keys?|endpoints?)\b|\bnobody ordered\b/, 'manage, issue, create'],
  [/\b(?:is|are) (?:written|full) again\b/, 'accepts writes again, resets'],
  [/\bbehind all (?:routes|guards|global guards)\b|\bbegins? behind\b/, 'after'],
  [/\banswers (?:whether|how many|undefined|its|what|a)\b/, 'returns'],
  [/\banswered (?:with an?|with the|as|in time|50\d|4\d\d)\b/, 'gets, responds'],
  [
    /\b(?:key|client|endpoint|copy|backup) (?:that is )?to (?:be )?(?:make|made|issue)\b/,
    'a new …, options of …',
  ],
  [/\bwhat is wrong\b|\bwhat to do about\b/, 'the fault, the remedy'],
  [/(?<!there )\bis no (?:table|part|setting|place|member|text|declared)\b/, 'is not a …'],
  [/\bis called as\b|\bworks no more\b/, 'is named …, no longer works'],
];

/** Markdown with its lines, without code blocks and code in sentences. */
function proseOf(text) {
  const blank = (code) => code.replaceAll(/[^\n]/g, '');
  return text
    .replaceAll(/```[^]*?```/g, blank)
    .replaceAll(/`[^`]*`/g, (code) => `_${blank(code)}`)
    .replaceAll(/\]\([^)]*\)/g, ']');
}

/** The sentences among the string literals of code, in their lines, and the lines of templates that are text. */
function sentencesOf(code) {
  const literal = /'((?:[^'\\]|\\.)+)'|`([^`]+)`|"((?:[^"\\]|\\.)+)"/g;
  const text = /^[^=;(){}]*(?:\b[\w’']+[,.;:]? ){5}/;
  const isSentence = (one) => / \w+ /.test(one) && !/\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\b/.test(one);
  return code
    .split('\n')
    .map((line) => (/^\s*(?:\/?\*|\/\/|import\b)/.test(line) ? '' : line.replaceAll(/<[^>]*>/g, ' ')))
    .map((line) => {
      const found = [...line.matchAll(literal)]
        .map((match) => match[1] ?? match[2] ?? match[3])
        .filter(isSentence);
      return found.length === 0 && text.test(line) ? line : found.join(' · ');
    })
    .join('\n');
}

/** The sentences and the comments of code, in their lines. */
function textOf(code) {
  let isInside = false;
  const sentences = sentencesOf(code).split('\n');
  return code
    .split('\n')
    .map((line, index) => {
      const begun = /^\s*\/\*/.test(line);
      const isComment = isInside || begun || /^\s*\/\//.test(line);
      if (isInside || begun) isInside = !line.includes('*/');
      return isComment ? proseOf(line.replaceAll(/^\s*(?:\/\*\*?|\*\/?|\/\/)|\*\//g, '')) : sentences[index];
    })
    .join('\n');
}

const code = readdirSync('src', { recursive: true })
  .filter((file) => /(?<!\.spec)\.[jt]s$/.test(file))
  .map((file) => join('src', file));
const documents = ['README.md', 'CONTRIBUTING.md', ...['docs', 'examples', 'clients'].flatMap(markdownIn)];

/** The Markdown files in a folder, which a team may have removed. */
function markdownIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

const faults = [...documents, ...code].flatMap((file) =>
  (file.endsWith('.md') ? proseOf : textOf)(readFileSync(file, 'utf8'))
    .split('\n')
    .flatMap((line, index) =>
      TURNS.flatMap(([turn, instead]) => {
        const found = new RegExp(turn, 'i').exec(line);
        return found ? [`${file}:${index + 1}: "${found[0].trim()}": write ${instead}`] : [];
      }),
    ),
);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
