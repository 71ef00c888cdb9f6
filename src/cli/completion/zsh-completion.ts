import { type CommandWords, pathPatterns } from './completion-tree.js';

/** The completion of a program for zsh. It answers by itself and starts no process. */
export function zshCompletion(tree: readonly CommandWords[]): string {
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) =>
      value
        ? [`    '${path}|${flag}') kind=${value.kind}; all=(${value.values.map(quoted).join(' ')}) ;;`]
        : [],
    ),
  );
  const words = tree.map(({ path, commands, options }) =>
    [
      `    '${path}')`,
      `      commands=(${commands.map(({ name, description }) => described(name, description)).join(' ')})`,
      `      flags=(${options.map(({ flag, description }) => described(flag, description)).join(' ')})`,
      '      ;;',
    ].join('\n'),
  );
  const steps = pathPatterns(tree).map((pattern) => `      '${pattern}') at="\${at:+$at }$word" ;;`);
  return `#compdef petstore
# Completion of petstore for zsh; made by \`petstore completion zsh\`.
_petstore() {
  local at='' before='' kind='' word
  local -a all commands flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
${steps.join('\n')}
    esac
    before="$word"
  done
  if [[ $PREFIX == --*=* ]]; then
    before="\${PREFIX%%=*}"
    compset -P '*='
  fi
  case "$at|$before" in
${values.join('\n')}
  esac
  case "$kind" in
    one) compadd -a all; return ;;
    list) compset -P '*,'; compadd -q -S ',' -a all; return ;;
    file) _files; return ;;
    free) return ;;
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ \${#commands} -gt 0 && $PREFIX != -* ]]; then
    _describe command commands
  else
    _describe option flags
  fi
}
if [ "$funcstack[1]" = _petstore ]; then _petstore "$@"; else compdef _petstore petstore; fi`;
}

/** A word with what is told of it; a colon is between the two. */
function described(word: string, description: string): string {
  return quoted(`${word.replaceAll(':', '\\:')}:${description}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
