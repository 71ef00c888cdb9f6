import { type CommandWords, pathPatterns } from './completion-tree.js';

/** The completion of a program for bash 3.2 and newer. It answers by itself and starts no process. */
export function bashCompletion(tree: readonly CommandWords[]): string {
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) =>
      value ? [`    '${path}|${flag}') kind=${value.kind} all='${value.values.join(' ')}' ;;`] : [],
    ),
  );
  const words = tree.map(({ path, commands, options }) => {
    const [names, flags] = [commands.map(({ name }) => name), options.map(({ flag }) => flag)];
    return `    '${path}') commands='${names.join(' ')}' flags='${flags.join(' ')}' ;;`;
  });
  const steps = pathPatterns(tree).map((pattern) => `      '${pattern}') at="\${at:+$at }$word" ;;`);
  return `# Completion of petstore for bash; made by \`petstore completion bash\`.
_petstore() {
  local line="\${COMP_LINE:0:COMP_POINT}" at='' before='' kind='' all='' commands='' flags='' current='' first='' word
  local -a words
  read -ra words <<< "$line"
  if [[ $line != *[[:space:]] ]]; then
    current="\${words[\${#words[@]}-1]}"
    unset "words[\${#words[@]}-1]"
  fi
  for word in "\${words[@]:1}"; do
    case "$at $word" in
${steps.join('\n')}
    esac
    before="$word"
  done
  if [[ $current == --*=* ]]; then
    before="\${current%%=*}" current="\${current#*=}"
  fi
  case "$at|$before" in
${values.join('\n')}
  esac
  if [[ -z $kind ]]; then
    case "$at" in
${words.join('\n')}
    esac
    all="\${commands:-$flags}"
    if [[ $current == -* ]]; then all="$flags"; fi
  fi
  COMPREPLY=()
  case "$kind" in
    file)
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
      ;;
    free) ;;
    *)
      if [[ $kind == list && $current == *,* ]]; then first="\${current%,*},"; fi
      for word in $all; do
        if [[ "$first$word" == "$current"* && ",$first" != *",$word,"* ]]; then COMPREPLY+=("$first$word"); fi
      done
      ;;
  esac
  # Bash takes a colon as the end of a word, and completes what stands behind it.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    word="\${current%"\${current##*:}"}"
    COMPREPLY=("\${COMPREPLY[@]#"$word"}")
  fi
  if [[ $kind == list ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _petstore petstore`;
}
