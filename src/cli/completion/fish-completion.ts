import { type CommandWords, type OptionWords, pathPatterns } from './completion-tree.js';

/** The completion of a program for fish. It answers by itself and starts no process. */
export function fishCompletion(tree: readonly CommandWords[]): string {
  const lines = tree.flatMap(({ path, commands, options }) => {
    const here = `complete -c petstore -n ${quoted(`__petstore_at ${quoted(path)}`)}`;
    return [
      ...commands.map(({ name, description }) => `${here} -a ${quoted(name)} -d ${quoted(description)}`),
      ...options.map((option) => `${here} ${optionText(option)}`),
    ];
  });
  return `# Completion of petstore for fish; made by \`petstore completion fish\`.
function __petstore_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${pathPatterns(tree).map(quoted).join(' ')}
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
function __petstore_list
    set -l given (commandline -ct | string replace -r '^--[^=]*=' '')
    set -l before (string match -r '^.*,' -- $given)
    for value in $argv
        echo "$before$value"
    end
end
complete -c petstore -f
${lines.join('\n')}`;
}

function optionText({ flag, description, value }: OptionWords): string {
  const text = `-l ${flag.replace(/^--/, '')} -d ${quoted(description)}`;
  if (!value) return text;
  const words = value.values.join(' ');
  if (value.kind === 'one') return `${text} -x -a ${quoted(words)}`;
  if (value.kind === 'list') return `${text} -x -a ${quoted(`(__petstore_list ${words})`)}`;
  return value.kind === 'file' ? `${text} -r -F` : `${text} -x`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
