/** The shells that there is a script for. */
export type Shell = 'bash' | 'zsh' | 'fish'

/*
 * Each script asks `headwater complete -- WORDS` for every word and shows what comes; nothing is known of the commands here, so that a script
 * stays right when headwater changes. Where nothing comes the shell offers files.
 */

const BASH = `# bash completion of headwater: source <(headwater completion bash)
_headwater() {
  local line current words typed="\${COMP_LINE:0:COMP_POINT}" breaks="" kept=""
  # COMP_WORDS is broken at "=" and ":", the words of the shell are not.
  IFS=$' \\t\\n' read -r -a words <<<"$typed"
  if [[ "$typed" == *[[:space:]] ]]; then words+=(""); fi
  current="\${words[\${#words[@]}-1]}"
  if [[ "$COMP_WORDBREAKS" == *=* ]]; then breaks+="="; fi
  if [[ "$COMP_WORDBREAKS" == *:* ]]; then breaks+=":"; fi
  if [[ -n "$breaks" ]]; then kept="\${current%"\${current##*[$breaks]}"}"; fi
  COMPREPLY=()
  while IFS= read -r line; do
    line="\${line%%$'\\t'*}"
    COMPREPLY+=("\${line#"$kept"}")
  done < <(headwater complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -o nosort -F _headwater headwater 2>/dev/null || complete -o default -F _headwater headwater
`

const ZSH = `#compdef headwater
# zsh completion of headwater: source <(headwater completion zsh)
_headwater() {
  local -a found
  local value about
  while IFS=$'\\t' read -r value about; do
    found+=("\${value//:/\\\\:}\${about:+:$about}")
  done < <(headwater complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then
    _describe -V headwater found
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == "_headwater" ]]; then
  _headwater "$@"
else
  compdef _headwater headwater
fi
`

const FISH = `# fish completion of headwater: headwater completion fish | source
function __headwater_complete
    set -l words (commandline -opc)
    set -l found (headwater complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c headwater -f -k -a '(__headwater_complete)'
`

/** The script of each shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH }
