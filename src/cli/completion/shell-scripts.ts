/** Asks for the candidates for a line. With `eval`, an alias such as one for `npx petstore` works even if it is defined later. */
const COMPLETE = `eval 'petstore completion words -- "$line"' 2>/dev/null`;

/**
 * The completion script of each shell. On TAB it runs `petstore completion words`, which prints the kind of the candidates, then the
 * candidates.
 */
export const SHELL_SCRIPTS = {
  bash: `_petstore() {
  local line="\${COMP_LINE:0:COMP_POINT}" breaks='=' kind='' word meaning
  local current="\${line##*[[:space:]]}"
  # Bash ends words at these characters, and replaces only what is behind them.
  if [[ $COMP_WORDBREAKS == *:* ]]; then breaks='=:'; fi
  local kept="\${current%"\${current##*[$breaks]}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word meaning; do
    if [[ -z $kind ]]; then kind="$word"; else COMPREPLY+=("\${word#"$kept"}"); fi
  done < <(${COMPLETE})
  if [[ $kind == list ]]; then compopt -o nospace 2>/dev/null; fi
  if [[ $kind == file ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "\${current#"$kept"}")
  fi
}
complete -F _petstore petstore`,
  zsh: `#compdef petstore
_petstore() {
  local line="\${(j: :)words[1,CURRENT-1]} $PREFIX"
  local -a lines names shown
  lines=("\${(@f)$(${COMPLETE})}")
  names=("\${(@)lines[2,-1]%%$'\\t'*}")
  shown=("\${(@)lines[2,-1]/$'\\t'/  -- }")
  case "$lines[1]" in
    file) compset -P '*='; _files ;;
    list) compadd -q -S ',' -a names ;;
    one) compadd -l -d shown -a names ;;
  esac
}
if [ "$funcstack[1]" = _petstore ]; then _petstore "$@"; else compdef _petstore petstore; fi`,
  fish: `function __petstore_words
    set -l lines (petstore completion words -- (commandline -cp | string collect) 2>/dev/null)
    if test "$lines[1]" = file
        __fish_complete_path (commandline -ct | string replace -r '^--[^=]*=' '')
    else
        printf '%s\\n' $lines[2..-1]
    end
end
complete -c petstore -f -a '(__petstore_words)'`,
} as const;
